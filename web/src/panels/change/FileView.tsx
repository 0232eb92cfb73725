import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { sizeOf } from "@/parts/patch";
import { visibleLine } from "@/parts/visible";
import { HunkView } from "./HunkView";
import { type FileDiff, type LeftOut, nameOf, namesIn } from "./selection";

type Props = {
  file: FileDiff;
  leftOut: LeftOut;
  onChoose: (names: readonly string[], isChosen: boolean) => void;
};

const LONG = 400;

/** One file: closed when it is long, and chosen as a whole or hunk by hunk. */
export function FileView({ file, leftOut, onChoose }: Props) {
  const { added, removed } = sizeOf(file.hunks);
  const [isOpen, setOpen] = useState(added + removed <= LONG);
  const names = namesIn(file);
  const chosen = names.filter((name) => !leftOut.has(name)).length;
  const path = visibleLine(file.path);
  return (
    <section aria-label={path} className="min-w-0 overflow-hidden rounded-md border bg-panel">
      <header className={`flex min-w-0 items-center gap-2 bg-raised px-2 py-1 ${isOpen ? "border-b" : ""}`}>
        <input
          type="checkbox"
          aria-label={`Choose all of ${path}`}
          checked={chosen === names.length}
          ref={(box) => {
            if (box) box.indeterminate = chosen > 0 && chosen < names.length;
          }}
          onChange={(event) => onChoose(names, event.target.checked)}
          className="size-4 shrink-0 accent-accent"
        />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 flex-1 items-center gap-1 rounded text-left"
        >
          <ChevronRight
            aria-hidden="true"
            className={`size-3.5 shrink-0 motion-safe:transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <code className="min-w-0 font-mono text-xs break-all">{path}</code>
        </button>
        <span className="font-mono text-xs whitespace-nowrap">
          <span className="text-ok">+{added}</span> <span className="text-bad">−{removed}</span>
        </span>
      </header>
      {isOpen
        ? file.hunks.map((hunk, place) => (
            <HunkView
              // biome-ignore lint/suspicious/noArrayIndexKey: hunks have no name but their place
              key={place}
              path={file.path}
              hunk={hunk}
              isChosen={!leftOut.has(nameOf(file.path, hunk))}
              onChoose={(isChosen) => onChoose([nameOf(file.path, hunk)], isChosen)}
            />
          ))
        : null}
    </section>
  );
}
