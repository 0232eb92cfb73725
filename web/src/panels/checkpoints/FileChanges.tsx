import { visibleLine } from "@/parts/visible";
import type { FileChange } from "@/wire/types";

const WORDS: Record<FileChange["kind"], string> = {
  write: "written back",
  delete: "deleted",
  skip: "left as it is",
};

/** What would become of the files. */
export function FileChanges({ changes }: { changes: readonly FileChange[] }) {
  if (changes.length === 0) return <p className="text-muted">No file would change.</p>;
  return (
    <ul className="max-h-60 divide-y divide-line/60 overflow-y-auto rounded-md border font-mono text-xs">
      {changes.map(({ path, kind, why }) => (
        <li key={path} className="flex flex-wrap gap-x-2 px-2 py-1">
          <span className="min-w-0 flex-1 break-all">{visibleLine(path)}</span>
          <span className={kind === "delete" ? "text-bad" : "text-muted"}>
            {WORDS[kind]}
            {why ? `: ${visibleLine(why)}` : ""}
          </span>
        </li>
      ))}
    </ul>
  );
}
