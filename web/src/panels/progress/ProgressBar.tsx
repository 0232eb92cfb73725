import { timeLeft } from "@/parts/time";
import { progressOf } from "@/session/fold";
import type { Working } from "@/session/live";

/** How far the plan is: step i of n, percent, and about how long it will take. */
export function ProgressBar({ live }: { live: Working }) {
  const known = progressOf(live.state);
  if (known === null) return null;
  const passing = live.state.status === "running" ? live.passing.plan : null;
  const { percent, step, of } = passing ?? { ...known, step: Math.min(known.step + 1, known.of) };
  const left = passing?.eta ? timeLeft(passing.eta.low, passing.eta.mid, passing.eta.high) : null;
  const place = known.step === known.of ? `${of} of ${of} steps done` : `step ${step} of ${of}`;
  const words = [place, `${Math.round(percent)} %`, left].filter(Boolean).join(" · ");
  return (
    <div className="grid gap-1">
      <div
        role="progressbar"
        aria-label="Progress"
        aria-valuenow={Math.round(percent)}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={words}
        className="h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <div className="h-full bg-accent motion-safe:transition-[width]" style={{ width: `${percent}%` }} />
      </div>
      <p className="text-xs text-muted">{words}</p>
    </div>
  );
}
