/** What happened since a person left, in one sentence. Pure. */
import type { Envelope } from "@/wire/types";

/** `events` are those of them that are at hand; `count` is how many there were. */
export function sinceInWords(events: readonly Envelope[], count: number): string {
  const steps = events.filter((event) => event.type === "step" && event.data.seconds != null);
  const done = steps.filter((event) => event.type === "step" && event.data.status === "completed").length;
  const failed = steps.filter((event) => event.type === "step" && event.data.status === "failed").length;
  const asked = events.filter(
    (event) => event.type === "request_input" || event.type === "approval_request",
  ).length;
  const retried = events.filter((event) => event.type === "retry").length;
  const ended = events.findLast((event) => event.type === "session");
  const parts = [
    done > 0 ? `${counted(done, "step")} done` : "",
    failed > 0 ? `${counted(failed, "step")} failed` : "",
    retried > 0 ? `${counted(retried, "retry", "retries")}` : "",
    asked > 0 ? `${counted(asked, "question")} asked` : "",
    ended?.type === "session" ? `now ${ended.data.status}` : "",
  ].filter(Boolean);
  const more =
    events.length < count ? ` in the last ${events.length} of ${count.toLocaleString()} events` : "";
  return `${parts.join(", ") || counted(count, "event")}${more}.`;
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}
