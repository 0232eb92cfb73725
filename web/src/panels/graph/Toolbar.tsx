import { Download } from "lucide-react";
import { INPUT } from "@/parts/Field";
import { visibleLine } from "@/parts/visible";
import * as client from "@/wire/client";
import type { Level, Sureness } from "@/wire/types";
import { impactAsked } from "./BlastRadius";
import { dependenciesAsked } from "./Dependencies";
import type { By } from "./drawing/groups";
import { SURENESS } from "./drawing/scene";
import { neighboursAsked } from "./Neighbours";
import type { OfGraph } from "./props";
import { Segments } from "./Segments";
import type { GraphView } from "./view";
import { LEAST_WORDS } from "./words";

type Format = "dot" | "mermaid";

const SELECT = `${INPUT} w-auto! max-w-full`;
const ENDINGS: Record<Format, string> = { dot: "dot", mermaid: "mmd" };
/** More than a picture can show; the API has the rest. */
const MOST_IN_A_FILE = 1_000;

/** How the graph is shown: which links count, what is drawn, in which colours; and a copy to keep. */
export function Toolbar({ repo, view, change }: OfGraph) {
  const isBlast = view.node !== null && view.tab === "blast";
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-2">
      <select
        aria-label="How sure a link has to be"
        value={view.least}
        onChange={(event) => change({ least: event.target.value as Sureness })}
        className={SELECT}
      >
        {SURENESS.map((least) => (
          <option key={least} value={least}>
            {LEAST_WORDS[least]}
          </option>
        ))}
      </select>
      <Segments<Level>
        label="What is drawn"
        value={view.level}
        options={[
          ["modules", "Modules"],
          ["symbols", "Symbols"],
        ]}
        onChange={(level) =>
          change({ level, by: level === "modules" && view.by === "kind" ? "folder" : view.by })
        }
      />
      {isBlast ? (
        <Segments<"rings" | "map">
          label="How the blast radius is drawn"
          value={view.isRings ? "rings" : "map"}
          options={[
            ["rings", "Rings"],
            ["map", "On the map"],
          ]}
          onChange={(draw) => change({ isRings: draw === "rings" })}
        />
      ) : (
        <select
          aria-label="Colours"
          value={view.by}
          onChange={(event) => change({ by: event.target.value as By })}
          className={SELECT}
        >
          <option value="folder">Colour by folder</option>
          <option value="language">Colour by language</option>
          {view.level === "symbols" ? <option value="kind">Colour by kind</option> : null}
        </select>
      )}
      <span className="inline-flex items-center gap-0.5 text-xs text-muted">
        <Download aria-hidden="true" className="size-4" />
        <Copy repo={repo} view={view} format="dot" />
        <Copy repo={repo} view={view} format="mermaid" />
      </span>
    </div>
  );
}

function Copy({ repo, view, format }: Pick<OfGraph, "repo" | "view"> & { format: Format }) {
  const name = visibleLine(repo.name).replace(/[^\w.-]+/g, "-") || "graph";
  return (
    <a
      href={drawingPath(repo.id, view, format)}
      download={`${name}.${ENDINGS[format]}`}
      className="inline-flex min-h-8 items-center rounded px-1.5 text-accent hover:underline"
    >
      <span className="sr-only">Download as </span>
      {format === "dot" ? "DOT" : "Mermaid"}
    </a>
  );
}

/** A drawing of what is looked at. */
function drawingPath(id: string, view: GraphView, format: Format): string {
  const { node, tab, least, level } = view;
  if (node === null) return client.graphPath(id, "graph", { level, least, limit: MOST_IN_A_FILE }, format);
  if (tab === "blast") return client.graphPath(id, "impact", impactAsked(node, view), format);
  if (tab === "dependencies") {
    return client.graphPath(id, "dependencies", dependenciesAsked(node, least), format);
  }
  return client.graphPath(id, "neighbours", neighboursAsked(node, least), format);
}
