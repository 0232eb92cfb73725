/** Events as the server sends them, numbered by whoever makes them. */
import type { Envelope, EnvelopeOf } from "@/wire/types";

export const SESSION = "019ca945-0a00-7000-bcdb-3e47e43dd365";

export function event<Type extends Envelope["type"]>(
  seq: number,
  type: Type,
  data: EnvelopeOf<Type>["data"],
): Envelope {
  const timestamp = `2026-03-01T12:00:${String(seq % 60).padStart(2, "0")}.000000Z`;
  return { seq, session_id: SESSION, type, stage: null, timestamp, data } as Envelope;
}

export const begun = (seq = 1) =>
  event(seq, "session", { status: "queued", begun: { workflow: "plan", title: "A plan", mode: "hitl" } });

export const step = (
  seq: number,
  key: string,
  status: EnvelopeOf<"step">["data"]["status"],
  seconds?: number,
) => event(seq, "step", { key, name: "files.write", status, seconds, effect: "write" });
