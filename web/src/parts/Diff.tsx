import { CopyButton } from "./CopyButton";
import { Scrolled } from "./Scrolled";
import { visibleLine } from "./visible";

type Kind = "added" | "removed" | "place" | "file" | "same";

const LOOKS: Record<Kind, string> = {
  added: "bg-ok-soft text-ok",
  removed: "bg-bad-soft text-bad",
  place: "bg-live-soft text-live",
  file: "font-semibold text-ink",
  same: "text-muted",
};

/** Whether a text is a unified diff. */
export function isDiff(text: string): boolean {
  return /^(--- |\+\+\+ |@@ )/m.test(text);
}

/** A unified diff, line by line; the signs say what the colours say. */
export function Diff({ text, label }: { text: string; label: string }) {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border bg-panel">
      <figcaption className="flex items-center justify-between border-b px-2 py-0.5 text-xs text-muted">
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      <Scrolled className="max-h-[32rem] py-1">
        {lines.map((line, number) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text have no other name
          <div key={number} className={`px-2 whitespace-pre-wrap break-words ${LOOKS[kindOf(line)]}`}>
            {visibleLine(line) || " "}
          </div>
        ))}
      </Scrolled>
    </figure>
  );
}

function kindOf(line: string): Kind {
  if (line.startsWith("+++") || line.startsWith("---")) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return "same";
}
