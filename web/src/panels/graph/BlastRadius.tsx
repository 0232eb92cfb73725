import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Radar } from "lucide-react";
import { useId } from "react";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { useRested } from "@/parts/rested";
import { graphQuery } from "@/wire/queries";
import type { Impact } from "@/wire/types";
import { Hits } from "./Hits";
import type { OfNode } from "./props";
import { RiskBars } from "./RiskBars";
import { Segments } from "./Segments";
import { DEEPEST, type GraphView } from "./view";
import { counted, DIRECTION_WORDS } from "./words";

/** What a change of the node reaches, or what the node needs, with the reason for each. */
export function BlastRadius(props: OfNode) {
  const { repo, node, view, change } = props;
  const asked = impactAsked(node, { ...view, depth: useRested(view.depth) });
  const found = useQuery({ ...graphQuery(repo, "impact", asked), placeholderData: keepPreviousData });
  const depth = useId();
  return (
    <div className="grid gap-4 p-3">
      <div className="grid gap-2">
        <Segments
          label="Direction"
          value={view.direction}
          options={[
            ["dependents", DIRECTION_WORDS.dependents],
            ["dependencies", DIRECTION_WORDS.dependencies],
          ]}
          onChange={(direction) => change({ direction })}
        />
        <label htmlFor={depth} className="flex items-center gap-2 text-xs">
          <span className="shrink-0">
            Up to <span className="font-mono font-medium">{view.depth}</span> away
          </span>
          <input
            id={depth}
            type="range"
            min={1}
            max={DEEPEST}
            step={1}
            value={view.depth}
            onChange={(event) => change({ depth: Number(event.target.value) })}
            className="h-8 min-w-0 flex-1 cursor-pointer accent-accent"
          />
        </label>
      </div>
      {found.isError ? <Failed error={found.error} retry={() => void found.refetch()} /> : null}
      {found.data === undefined && !found.isError ? <Loading what="the blast radius" /> : null}
      {found.data && !found.isError ? <Reached {...props} impact={found.data} /> : null}
    </div>
  );
}

export const impactAsked = (module: string, { depth, direction, least }: GraphView) => ({
  module,
  depth,
  direction,
  least,
  limit: 200,
});

function Reached({ impact, choose }: OfNode & { impact: Impact }) {
  const { totals, truncated } = impact;
  const isNothing = totals.modules + totals.symbols + totals.tests + totals.endpoints === 0;
  return (
    <>
      <p aria-live="polite">
        {impact.direction === "dependents" ? "A change reaches " : "It needs "}
        <strong className="font-semibold">{counted(totals.modules, "module")}</strong>,{" "}
        {counted(totals.symbols, "symbol")} and {counted(totals.endpoints, "endpoint")};{" "}
        {counted(totals.tests, "test runs it", "tests run it")}.
        {truncated ? " Only the nearest are listed." : ""}
      </p>
      <RiskBars risk={impact.risk} />
      {isNothing ? (
        <Empty icon={Radar} title="Nothing within reach">
          {impact.direction === "dependents"
            ? "No known reference leads here: a change stays where it is."
            : "It refers to nothing that is known."}
        </Empty>
      ) : (
        <Hits impact={impact} choose={choose} />
      )}
    </>
  );
}
