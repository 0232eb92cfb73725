/** How far a person had read each session, so that the page can say what happened since. */
import { recall, remember } from "@/parts/memory";

export type Seen = { seq: number; at: number };

const MOST_SESSIONS = 200;

export function lastSeen(sessionId: string): Seen | null {
  return all().find(([id]) => id === sessionId)?.[1] ?? null;
}

export function keepSeen(sessionId: string, seen: Seen): void {
  const others = all().filter(([id]) => id !== sessionId);
  remember("seen", [[sessionId, seen], ...others].slice(0, MOST_SESSIONS));
}

function all(): [string, Seen][] {
  const kept = recall<[string, Seen][]>("seen");
  return Array.isArray(kept) ? kept : [];
}
