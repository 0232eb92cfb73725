import { memo } from "react";
import { Coloured } from "@/parts/Numbered";
import type { Hunk, Line, LineKind } from "@/parts/patch";
import { Scrolled } from "@/parts/Scrolled";
import { visibleLine } from "@/parts/visible";

type Props = { path: string; hunk: Hunk; isChosen: boolean; onChoose: (isChosen: boolean) => void };

const GROUNDS: Record<LineKind, string> = {
  added: "bg-ok-soft",
  removed: "bg-bad-soft",
  same: "",
  note: "text-muted",
};
const SIGNS: Record<LineKind, string> = { added: "+", removed: "−", same: " ", note: " " };
/** Some lines that belong together. */
export function HunkView({ path, hunk, isChosen, onChoose }: Props) {
  const header = visibleLine(hunk.header);
  return (
    <div className="border-b border-line/60 last:border-0">
      <label className="flex items-center gap-2 bg-live-soft px-2 py-0.5 font-mono text-xs text-live">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={(event) => onChoose(event.target.checked)}
          className="size-4 shrink-0 accent-accent"
        />
        <span className="min-w-0 break-all">{header}</span>
      </label>
      <Lines path={path} lines={hunk.lines} />
    </div>
  );
}

const Lines = memo(function Lines({ path, lines }: { path: string; lines: readonly Line[] }) {
  return (
    <Scrolled className="max-h-[32rem]">
      {lines.map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other name
        <div key={place} className={`flex ${GROUNDS[line.kind]}`}>
          <LineNumber value={line.before} />
          <LineNumber value={line.after} />
          <span className="w-4 shrink-0 text-center select-none">{SIGNS[line.kind]}</span>
          <span className="min-w-0 flex-1 pr-2 break-words whitespace-pre-wrap">
            <Coloured line={visibleLine(line.text)} path={path} />
          </span>
        </div>
      ))}
    </Scrolled>
  );
});

function LineNumber({ value }: { value: number | null }) {
  return (
    <span aria-hidden="true" className="w-9 shrink-0 pr-1 text-right text-muted select-none max-sm:hidden">
      {value}
    </span>
  );
}
