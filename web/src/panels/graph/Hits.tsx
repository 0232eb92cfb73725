import type { ReactNode } from "react";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import type { CodeLink, Impact, Sureness } from "@/wire/types";
import { Listed } from "./Listed";
import { NodeButton } from "./NodeButton";
import { SureTag } from "./SureTag";
import type { Choose } from "./useView";
import { Why } from "./Why";
import { away, counted, placeWords } from "./words";

/** All that is reached, best first, as lists. */
export function Hits({ impact, choose }: { impact: Impact; choose: Choose }) {
  const { tests, endpoints, modules, symbols, totals } = impact;
  return (
    <>
      <Listed
        title={impact.direction === "dependents" ? "Tests to run" : "Tests that run it"}
        items={tests}
        total={totals.tests}
        name={({ symbol }) => symbol.id}
      >
        {(hit) => (
          <Hit {...hit} choose={choose} place={placeWords(hit.symbol)}>
            <NodeButton id={hit.symbol.id} onChoose={choose} />
            {hit.is_named_after ? <Tag tone="live">named after it</Tag> : null}
            <span className="w-full text-xs text-muted">
              {hit.reasons.map(({ text }) => visibleLine(text)).join(" ")}
            </span>
          </Hit>
        )}
      </Listed>
      <Listed
        title="Endpoints"
        items={endpoints}
        total={totals.endpoints}
        name={({ endpoint }) => endpoint.id}
      >
        {(hit) => (
          <Hit {...hit} choose={choose} place={placeWords(hit.endpoint)}>
            <Tag>{visibleLine(hit.endpoint.method)}</Tag>
            <NodeButton id={hit.endpoint.id} name={hit.endpoint.route} onChoose={choose} />
          </Hit>
        )}
      </Listed>
      <Listed title="Modules" items={modules} total={totals.modules} name={({ path }) => path}>
        {(hit) => (
          <Hit {...hit} choose={choose} place={counted(hit.symbols, "symbol")}>
            <NodeButton id={hit.path} onChoose={choose} />
            {hit.is_test ? <Tag>test</Tag> : null}
          </Hit>
        )}
      </Listed>
      <Listed title="Symbols" items={symbols} total={totals.symbols} name={({ symbol }) => symbol.id}>
        {(hit) => (
          <Hit {...hit} choose={choose} place={placeWords(hit.symbol)}>
            <NodeButton id={hit.symbol.id} onChoose={choose} />
            <Tag>{hit.symbol.kind}</Tag>
          </Hit>
        )}
      </Listed>
    </>
  );
}

type HitProps = {
  depth: number;
  confidence: Sureness;
  why: readonly CodeLink[];
  place: string;
  choose: Choose;
  children: ReactNode;
};

function Hit({ depth, confidence, why, place, choose, children }: HitProps) {
  return (
    <>
      <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1">
        {children}
        <SureTag confidence={confidence} />
      </span>
      <span className="text-xs break-all text-muted">
        <span className="font-mono">{place}</span> · {away(depth)}
      </span>
      <Why why={why} onChoose={choose} />
    </>
  );
}
