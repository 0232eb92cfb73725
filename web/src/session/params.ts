/** What a step was last called with: stands in the log, at the step's first event. */
import * as client from "@/wire/client";
import type { Envelope } from "@/wire/types";
import { stepOf } from "./fold";

const LOOKED_BACK = 500;

/** The parameters of the last try of the step that a request is about; empty if they are too far back. */
export async function lastParams(sessionId: string, requestKey: string): Promise<Record<string, unknown>> {
  const { seq } = await client.session(sessionId);
  return paramsIn(await client.events(sessionId, Math.max(0, seq - LOOKED_BACK), seq), stepOf(requestKey));
}

export function paramsIn(events: readonly Envelope[], step: string): Record<string, unknown> {
  for (const event of [...events].reverse()) {
    if (event.type !== "step" || stepOf(event.data.key) !== step) continue;
    const params = Array.isArray(event.data.input) ? event.data.input[0] : event.data.input;
    if (typeof params === "object" && params !== null) return params as Record<string, unknown>;
  }
  return {};
}
