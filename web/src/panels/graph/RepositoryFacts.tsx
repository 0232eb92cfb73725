import { visibleLine } from "@/parts/visible";
import type { Repository } from "@/wire/types";
import { counted } from "./words";

/** Which commit, and how large. */
export function RepositoryFacts({ repo: { commit, built } }: { repo: Repository }) {
  return (
    <span className="flex min-w-0 flex-wrap gap-x-3 text-xs text-muted">
      <span className="font-mono">{commit ? visibleLine(commit.slice(0, 10)) : "as it lies there"}</span>
      {built ? (
        <>
          <span>{counted(built.files, "file")}</span>
          <span>{counted(built.nodes, "node")}</span>
          <span>{counted(built.edges, "link")}</span>
          <span>{visibleLine(Object.keys(built.languages).join(", "))}</span>
          {built.broken.length > 0 ? (
            <span className="text-warn">{counted(built.broken.length, "file")} not read whole</span>
          ) : null}
          {built.truncated ? <span className="text-warn">too large to be read whole</span> : null}
        </>
      ) : null}
    </span>
  );
}
