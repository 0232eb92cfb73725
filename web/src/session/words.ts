/** Any event on one line, in the words that the terminal uses too. Pure. */
import { duration } from "@/parts/time";
import { readable } from "@/parts/visible";
import type { Envelope, EnvelopeOf } from "@/wire/types";
import { changeInWords } from "./change";

export type Tone = "plain" | "ok" | "warn" | "bad" | "live";

/** What the event says, without what the row beside it shows already. */
export function inWords(event: Envelope): string {
  switch (event.type) {
    case "session":
      return session(event.data);
    case "step":
      return event.data.reason ?? event.data.problem?.detail ?? "";
    case "retry":
      return `Attempt ${event.data.attempt} of ${event.data.key} failed; tries again${after(event.data.delay)}: ${event.data.problem.detail}`;
    case "plan":
      return `Plans ${event.data.steps.length === 1 ? "1 step" : `${event.data.steps.length} steps`}: ${event.data.steps.map((step) => step.title).join(", ")}`;
    case "request_input":
      return `Asks: ${event.data.prompt}`;
    case "approval_request":
      return `Asks for approval: ${event.data.title}`;
    case "user_response":
      return response(event.data);
    case "message":
      return `You said: ${event.data.text}`;
    case "log":
      return event.data.text;
    case "error":
      return event.data.problem.detail;
    case "checkpoint":
      return `Checkpoint “${event.data.name}”`;
    case "interrupt":
      return `Interrupted${because(event.data.reason)}`;
    case "resume":
      return `Resumed from ${event.data.from_status}${because(event.data.reason)}`;
    case "budget":
      return `Budget of ${event.data.allowed} ${event.data.limit} used up (${round(event.data.used)})`;
    case "breaker":
      return `${event.data.name}: circuit breaker ${event.data.state.replace("_", " ")}, ${BREAKER[event.data.state]}`;
    case "in_doubt":
      return `In doubt: ${event.data.reason}`;
    case "limit":
      return `${event.data.key} waits: ${event.data.limit === "rate" ? "rate limit" : "too many calls at once"}${after(event.data.delay)}`;
    case "artifact":
      return `Made ${event.data.name} (${event.data.media_type})`;
    case "restored":
      return restored(event.data);
    case "rehomed":
      return rehomed(event.data);
    default:
      return unknown(event);
  }
}

/** How the event should feel; the word beside the colour says the same. */
export function toneOf(event: Envelope): Tone {
  switch (event.type) {
    case "error":
    case "in_doubt":
      return "bad";
    case "retry":
    case "limit":
    case "budget":
    case "interrupt":
      return "warn";
    case "request_input":
    case "approval_request":
      return "live";
    case "user_response":
      return event.data.approved === false ? "warn" : "ok";
    case "breaker":
      return event.data.state === "open" ? "bad" : "plain";
    case "log":
      return { debug: "plain", info: "plain", warning: "warn", error: "bad" }[
        event.data.level ?? "info"
      ] as Tone;
    case "session":
      return SESSION_TONES[event.data.status] ?? "plain";
    default:
      return "plain";
  }
}

const SESSION_TONES: Partial<Record<EnvelopeOf<"session">["data"]["status"], Tone>> = {
  completed: "ok",
  failed: "bad",
  waiting: "live",
  paused: "warn",
  interrupted: "warn",
  cancelled: "warn",
  expired: "warn",
};

const BREAKER = {
  open: "it failed so often that it is left alone for a while",
  half_open: "one call is let through to see whether it works again",
  closed: "it works again",
};

function session(data: EnvelopeOf<"session">["data"]): string {
  if (data.begun) return `Started: ${data.begun.title} (workflow ${data.begun.workflow}, ${data.begun.mode})`;
  if (data.rewound_to) return `Rewound to event ${data.rewound_to}`;
  return `Session ${data.status}${because(data.reason)}`;
}

function restored(data: EnvelopeOf<"restored">["data"]): string {
  const told = [
    [data.written ?? 0, "brought back"],
    [data.deleted ?? 0, "deleted"],
    [data.skipped?.length ?? 0, "left as they are"],
  ].filter(([count]) => count !== 0);
  return told.length === 0
    ? "The files were as they had been"
    : `Files: ${told.map(([count, what]) => `${count} ${what}`).join(", ")}`;
}

function rehomed({ because, workspace }: EnvelopeOf<"rehomed">["data"]): string {
  const what = because === "fork" ? "A fork" : "An imported copy";
  return `${what}: nothing that was allowed to the original is allowed here; it works ${workspace ? `in ${workspace}` : "without a folder"}`;
}

function response(data: EnvelopeOf<"user_response">["data"]): string {
  const notes = data.notes ? `: ${data.notes}` : "";
  if (data.approved == null) return `Answered: ${short(readable(data.value))}`;
  const always = data.remember ? ", and calls like it in this session" : "";
  return `${data.approved ? "Approved" : "Rejected"}${always}${notes}`;
}

/** A newer server may tell of what this page does not know; most events say what they are about in `text`. */
function unknown(event: never): string {
  const { type, data } = event as { type: string; data: { text?: unknown } };
  const told = changeInWords(type, data);
  if (told !== null) return told;
  if (typeof data.text === "string") return data.text;
  return `${type} ${short(JSON.stringify(data))}`;
}

const because = (reason: string | null | undefined) => (reason ? `: ${reason}` : "");
const after = (delay: number | null | undefined) => (delay ? ` in ${duration(delay)}` : "");
const round = (value: number) => Math.round(value * 100) / 100;
const short = (text: string) => (text.length > 200 ? `${text.slice(0, 199)}…` : text);
