import { visibleLine } from "@/parts/visible";
import { shortId } from "./words";

type Props = { id: string; name?: string; onChoose: (id: string) => void; className?: string };

/** The name of a node; pressed, it is chosen. */
export function NodeButton({ id, name, onChoose, className = "" }: Props) {
  return (
    <button
      type="button"
      title={visibleLine(id)}
      onClick={() => onChoose(id)}
      className={`max-w-full min-w-0 rounded text-left font-mono text-xs break-all text-accent hover:underline ${className}`}
    >
      {name === undefined ? shortId(id) : visibleLine(name)}
    </button>
  );
}
