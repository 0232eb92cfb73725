import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { CopyButton } from "@/parts/CopyButton";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { graphQuery } from "@/wire/queries";
import { neighboursAsked } from "./Neighbours";
import type { OfNode } from "./props";
import { placeWords, shortId } from "./words";

/** What is chosen: its name, what it is, where it stands. */
export function ChosenCard({ repo, node, view, choose }: OfNode) {
  const found = useQuery(graphQuery(repo, "neighbours", neighboursAsked(node, view.least)));
  const symbol = found.data?.center;
  return (
    <header className="grid gap-1 border-b bg-panel px-3 py-2">
      <div className="flex min-w-0 items-start gap-2">
        <h2 className="min-w-0 flex-1 font-mono font-semibold break-all">{shortId(symbol?.id ?? node)}</h2>
        <button
          type="button"
          aria-label="Choose nothing"
          title="Choose nothing"
          onClick={() => choose(null)}
          className="inline-flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-raised hover:text-ink"
        >
          <X aria-hidden="true" className="size-4" />
        </button>
      </div>
      {symbol ? (
        <div className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
          <Tag>{symbol.kind}</Tag>
          <span className="inline-flex min-w-0 items-center gap-1 font-mono break-all">
            {placeWords(symbol)}
            <CopyButton text={`${symbol.path}:${symbol.line}`} what="the place" />
          </span>
          {(symbol.tags ?? []).map((tag) => (
            <Tag key={tag}>{visibleLine(tag)}</Tag>
          ))}
        </div>
      ) : null}
    </header>
  );
}
