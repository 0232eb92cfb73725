import { useSyncExternalStore } from "react";
import { absolute, relative } from "./time";

/** How long ago, with the exact time on hover. */
export function When({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={absolute(at)} className="whitespace-nowrap text-muted">
      {relative(at, now)}
    </time>
  );
}

const TICK = 5_000;
const listeners = new Set<() => void>();
let ticking: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** One clock for the whole page, which stands still while nobody looks at it. */
export function useNow(): number {
  return useSyncExternalStore(listen, () => now);
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  ticking ??= setInterval(tick, TICK);
  if (listeners.size === 1) now = Date.now();
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}
