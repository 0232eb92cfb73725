import { useQuery } from "@tanstack/react-query";
import { Unplug } from "lucide-react";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { graphQuery } from "@/wire/queries";
import type { ModuleLink, Use } from "@/wire/types";
import { Listed } from "./Listed";
import { NodeButton } from "./NodeButton";
import type { OfNode } from "./props";
import { SureTag } from "./SureTag";
import { counted, placeWords, RELATION_WORDS } from "./words";

/** The modules that a node needs and those that need it, and the calls over that border. */
export function Dependencies({ repo, node, view, choose }: OfNode) {
  const found = useQuery(graphQuery(repo, "dependencies", dependenciesAsked(node, view.least)));
  if (found.isError) return <Failed error={found.error} retry={() => void found.refetch()} />;
  if (found.data === undefined) return <Loading what="the dependencies" />;
  const { imports, imported_by, callees, callers, truncated } = found.data;
  if (imports.length + imported_by.length + callees.length + callers.length === 0) {
    return (
      <Empty icon={Unplug} title="It depends on nothing, and nothing on it">
        {view.least === "by-name" ? "No reference leads in or out." : "Let less sure links count, too."}
      </Empty>
    );
  }
  return (
    <div className="grid gap-4 p-3">
      {truncated ? <p className="text-xs text-muted">Only the first 200 of each are listed.</p> : null}
      <Modules title="Needed by modules" modules={imported_by} choose={choose} />
      <Modules title="Needs modules" modules={imports} choose={choose} />
      <Uses title="Referred to by" uses={callers} choose={choose} />
      <Uses title="Refers to" uses={callees} choose={choose} />
    </div>
  );
}

export const dependenciesAsked = (module: string, least: OfNode["view"]["least"]) => ({
  module,
  least,
  limit: 200,
});

type ModulesProps = { title: string; modules: readonly ModuleLink[]; choose: OfNode["choose"] };

function Modules({ title, modules, choose }: ModulesProps) {
  return (
    <Listed title={title} items={modules} name={({ path }) => path}>
      {({ path, confidence, references, relations }) => (
        <>
          <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
            <NodeButton id={path} onChoose={choose} />
            <SureTag confidence={confidence} />
          </span>
          <span className="text-xs text-muted">
            {counted(references, "reference")}:{" "}
            {Object.entries(relations)
              .map(([relation, count]) => `${relation} ${count.toLocaleString()}`)
              .join(", ")}
          </span>
        </>
      )}
    </Listed>
  );
}

type UsesProps = { title: string; uses: readonly Use[]; choose: OfNode["choose"] };

function Uses({ title, uses, choose }: UsesProps) {
  return (
    <Listed
      title={title}
      items={uses}
      name={({ link }) => `${link.source}\n${link.target}\n${link.relation}`}
    >
      {({ link }) => (
        <>
          <span className="min-w-0 text-xs">
            <NodeButton id={link.source} onChoose={choose} />{" "}
            <span className="text-muted">{RELATION_WORDS[link.relation]}</span>{" "}
            <NodeButton id={link.target} onChoose={choose} /> <SureTag confidence={link.confidence} />
          </span>
          <span className="font-mono text-xs break-all text-muted">{placeWords(link)}</span>
        </>
      )}
    </Listed>
  );
}
