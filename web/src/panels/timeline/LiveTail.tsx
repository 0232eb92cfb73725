import { visible, visibleLine } from "@/parts/visible";
import type { Working } from "@/session/live";

/** What is being written right now: words as they come, and the last lines of running steps. */
export function LiveTail({ live }: { live: Working }) {
  const { writing, output, steps } = live.passing;
  return (
    <div className="grid gap-2 p-3 empty:hidden">
      {[...steps.values()].map(({ key, percent, text }) => (
        <p key={key} className="text-xs text-muted">
          <code className="font-mono">{visibleLine(key)}</code>: {Math.round(percent)} %{" "}
          {visibleLine(text ?? "")}
        </p>
      ))}
      {[...output].map(([key, lines]) => (
        <pre key={key} className="overflow-x-auto font-mono text-xs whitespace-pre-wrap text-muted">
          {visible(lines.slice(-8).join("\n"))}
        </pre>
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
