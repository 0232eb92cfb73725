import type { CodeLink } from "@/wire/types";
import { NodeButton } from "./NodeButton";
import { SureTag } from "./SureTag";
import { counted, placeWords, RELATION_WORDS } from "./words";

type Props = { why: readonly CodeLink[]; onChoose: (id: string) => void };

/** The references that lead from a hit to what was asked about, each with its place in the source. */
export function Why({ why, onChoose }: Props) {
  if (why.length === 0) return null;
  return (
    <details className="min-w-0">
      <summary className="cursor-pointer text-xs text-muted hover:text-ink">
        Why: {counted(why.length, "reference")}
      </summary>
      <ol className="mt-1 ml-1 grid min-w-0 gap-1.5 border-l-2 pl-2.5">
        {why.map((link, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a path may go the same way twice
          <li key={place} className="min-w-0 text-xs">
            <NodeButton id={link.source} onChoose={onChoose} />{" "}
            <span className="text-muted">{RELATION_WORDS[link.relation]}</span>{" "}
            <NodeButton id={link.target} onChoose={onChoose} /> <SureTag confidence={link.confidence} />
            <span className="block font-mono break-all text-muted">{placeWords(link)}</span>
          </li>
        ))}
      </ol>
    </details>
  );
}
