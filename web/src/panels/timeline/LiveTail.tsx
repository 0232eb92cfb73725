import { Output } from "@/parts/Output";
import { visible, visibleLine } from "@/parts/visible";
import { stepOf } from "@/session/fold";
import type { Working } from "@/session/live";
import { callOf } from "@/session/script";

/** What is being written right now: words as they come, and the last lines of running steps. */
export function LiveTail({ live }: { live: Working }) {
  const { writing, output, steps } = live.passing;
  const titleOf = (key: string) => {
    const title = live.state.plan.find((step) => step.key === stepOf(key))?.title ?? key;
    const call = callOf(key);
    return visibleLine(call ? `${title}, call ${call.number}` : title);
  };
  return (
    <div className="grid gap-2 p-3 empty:hidden">
      {[...steps.values()].map(({ key, percent, text }) => (
        <p key={key} className="text-xs text-muted">
          {titleOf(key)}: {Math.round(percent)} % {visibleLine(text ?? "")}
        </p>
      ))}
      {[...output].map(([key, { before, lines }]) => (
        <Output key={key} label={`${titleOf(key)}, as it prints`} lines={lines} before={before} isLive />
      ))}
      {[...writing].map(([key, text]) => (
        <div key={key} className="rounded-md border border-live/40 bg-live-soft p-2">
          <p className="mb-1 font-mono text-xs text-live">{visibleLine(key)} is writing…</p>
          <p className="text-sm break-words whitespace-pre-wrap">{visible(text)}</p>
        </div>
      ))}
    </div>
  );
}
