type Props = { label: string; used: number; allowed: number | null; words: string };

/** How much of a limit is used, in words and as a bar. */
export function Meter({ label, used, allowed, words }: Props) {
  const share = allowed ? Math.min(1, used / allowed) : 0;
  const colour = share >= 1 ? "bg-bad" : share > 0.8 ? "bg-warn" : "bg-accent";
  return (
    <div className="grid gap-1">
      <div className="flex justify-between gap-2 text-xs">
        <span className="text-muted">{label}</span>
        <span className="font-mono">{words}</span>
      </div>
      {allowed ? (
        // biome-ignore lint/a11y/useSemanticElements: browsers do not let a <meter> take our colours
        <div
          role="meter"
          aria-label={label}
          aria-valuenow={Math.round(share * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuetext={words}
          className="h-1.5 overflow-hidden rounded-full bg-raised"
        >
          <div className={`h-full ${colour}`} style={{ width: `${share * 100}%` }} />
        </div>
      ) : null}
    </div>
  );
}
