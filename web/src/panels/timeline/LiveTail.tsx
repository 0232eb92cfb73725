import { visible, visibleLine } from "@/parts/visible";
import { stepOf } from "@/session/fold";
import type { Working } from "@/session/live";

const SHOWN = 12;

/** What is being written right now: words as they come, and the last lines of running steps. */
export function LiveTail({ live }: { live: Working }) {
  const { writing, output, steps } = live.passing;
  const titleOf = (key: string) => live.state.plan.find((step) => step.key === stepOf(key))?.title ?? key;
  return (
    <div className="grid gap-2 p-3 empty:hidden">
      {[...steps.values()].map(({ key, percent, text }) => (
        <p key={key} className="text-xs text-muted">
          <code className="font-mono">{visibleLine(key)}</code>: {Math.round(percent)} %{" "}
          {visibleLine(text ?? "")}
        </p>
      ))}
      {[...output].map(([key, lines]) => (
        <figure key={key} className="min-w-0 overflow-hidden rounded-md border border-live/40 bg-panel">
          <figcaption className="border-b px-2 py-0.5 text-xs text-live">
            {visibleLine(titleOf(key))}: its last lines
          </figcaption>
          <pre className="p-2 font-mono text-xs break-words whitespace-pre-wrap">
            {visible(lines.slice(-SHOWN).join("\n"))}
          </pre>
        </figure>
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
