import { useInfiniteQuery } from "@tanstack/react-query";
import { FileCode } from "lucide-react";
import { useState } from "react";
import { Button } from "@/parts/Button";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { INPUT } from "@/parts/Field";
import { useRested } from "@/parts/rested";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { modulesQuery } from "@/wire/queries";
import { NodeButton } from "./NodeButton";
import type { OfGraph } from "./props";
import { counted } from "./words";

const PAGE = 100;

/** Every module, by path; the map as a list. */
export function ModuleList({ repo, view, change, choose }: OfGraph) {
  const [text, setText] = useState("");
  const q = useRested(text.trim());
  const found = useInfiniteQuery(
    modulesQuery(repo, { q: q || undefined, tag: view.tag || undefined, limit: PAGE }),
  );
  const first = found.data?.pages[0];
  const modules = found.data?.pages.flatMap((page) => page.modules);
  return (
    <div className="grid gap-3 p-3">
      <search className="flex min-w-0 gap-2">
        <input
          type="search"
          aria-label="Search modules"
          placeholder="Part of a path…"
          maxLength={500}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className={INPUT}
        />
        <select
          aria-label="Tag"
          value={view.tag}
          onChange={(event) => change({ tag: event.target.value })}
          className={`${INPUT} w-36! shrink-0`}
        >
          <option value="">Any tag</option>
          {tagsOf(first?.tags, view.tag).map(([tag, count]) => (
            <option key={tag} value={tag}>
              {visibleLine(tag)} ({count})
            </option>
          ))}
        </select>
      </search>
      {found.isError ? <Failed error={found.error} retry={() => void found.refetch()} /> : null}
      {found.isPending ? <Loading what="the modules" /> : null}
      {modules?.length === 0 ? (
        <Empty icon={FileCode} title={q || view.tag ? "No module fits" : "There are no modules"}>
          {q || view.tag
            ? "Change the search or the tag."
            : "The repository has no file in a language that is known."}
        </Empty>
      ) : null}
      {modules && modules.length > 0 ? (
        <>
          <p aria-live="polite" className="text-xs text-muted">
            {counted(first?.total ?? 0, "module")}
          </p>
          <ul aria-label="Modules" className="divide-y divide-line/60 rounded-md border bg-panel">
            {modules.map((module) => (
              <li key={module.path} className="grid min-w-0 gap-0.5 px-2.5 py-1.5">
                <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
                  <NodeButton id={module.path} onChoose={choose} />
                  {module.is_broken ? <Tag tone="warn">not read whole</Tag> : null}
                  {module.tags.map((tag) => (
                    <Tag key={tag}>{visibleLine(tag)}</Tag>
                  ))}
                </span>
                <span className="text-xs text-muted">
                  {counted(module.symbols, "symbol")} · needed by {module.dependents.toLocaleString()} · needs{" "}
                  {module.dependencies.toLocaleString()} · {counted(module.lines, "line")}
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
      {found.hasNextPage ? (
        <Button
          className="justify-self-center"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? "Loading…" : "More modules"}
        </Button>
      ) : null}
    </div>
  );
}

/** The most common first; the one that is chosen is always among them. */
function tagsOf(tags: Record<string, number> | undefined, chosen: string): [string, number][] {
  const known = Object.entries(tags ?? {}).sort(([, a], [, b]) => b - a);
  return chosen === "" || known.some(([tag]) => tag === chosen) ? known : [[chosen, 0], ...known];
}
