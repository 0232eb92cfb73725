import { useQuery } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { Tag } from "@/parts/Tag";
import { graphQuery } from "@/wire/queries";
import type { CodeLink } from "@/wire/types";
import { Listed } from "./Listed";
import { NodeButton } from "./NodeButton";
import { neighbourhood } from "./neighbourhood";
import type { OfNode } from "./props";
import { SureTag } from "./SureTag";
import { placeWords } from "./words";

/** What is one link away from a node, by what it is to it. */
export function Neighbours({ repo, node, view, choose }: OfNode) {
  const found = useQuery(graphQuery(repo, "neighbours", neighboursAsked(node, view.least)));
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data === undefined) return <Loading what="the neighbours" />;
  const groups = neighbourhood(found.data);
  if (groups.length === 0) {
    return (
      <Empty icon={Unplug} title="Nothing is linked to it">
        {view.least === "by-name" ? "It stands alone." : "Let less sure links count, too."}
      </Empty>
    );
  }
  return (
    <div className="grid gap-4 p-3">
      {found.data.truncated ? (
        <p className="text-xs text-muted">Only the best connected are listed.</p>
      ) : null}
      {groups.map(({ title, entries }) => (
        <Listed key={title} title={title} items={entries} name={({ symbol }) => symbol.id}>
          {({ symbol, link }) => (
            <>
              <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
                <NodeButton id={symbol.id} onChoose={choose} />
                <Tag>{symbol.kind}</Tag>
                <SureTag confidence={link.confidence} />
              </span>
              <span className="font-mono text-xs break-all text-muted">
                {placeWords(link.relation === "contains" ? symbol : link)}
                {times(link)}
              </span>
            </>
          )}
        </Listed>
      ))}
    </div>
  );
}

export const neighboursAsked = (node: string, least: OfNode["view"]["least"]) => ({
  node,
  least,
  limit: 300,
});

const times = ({ count = 1 }: CodeLink) => (count > 1 ? ` and ${(count - 1).toLocaleString()} more` : "");
