/** What one looks at, as it stands in the address: a link shows the same to everybody. Pure. */
import type { Direction, Level, Sureness } from "@/wire/types";
import type { By } from "./drawing/groups";
import { SURENESS } from "./drawing/scene";

export const TABS = ["neighbours", "dependencies", "blast", "modules", "endpoints"] as const;
export type Tab = (typeof TABS)[number];

export type GraphView = {
  node: string | null;
  tab: Tab;
  level: Level;
  by: By;
  least: Sureness;
  depth: number;
  direction: Direction;
  /** Whether a blast radius is drawn as rings; else it is shown on the map. */
  isRings: boolean;
  tag: string;
  pattern: string;
};
export type Search = Record<string, string>;

export const DEEPEST = 6;
const NOTHING: GraphView = {
  node: null,
  tab: "modules",
  level: "modules",
  by: "folder",
  least: "by-name",
  depth: 3,
  direction: "dependents",
  isRings: true,
  tag: "",
  pattern: "",
};
const OF_A_NODE: readonly Tab[] = ["neighbours", "dependencies", "blast"];

/** Whatever an address says, a view comes of it. */
export function viewOf(search: Readonly<Record<string, unknown>>): GraphView {
  const text = (name: string) => textOf(search[name]);
  const node = text("node") || null;
  const tab = oneOf(TABS, text("tab"), node === null ? "modules" : "neighbours");
  return {
    node,
    tab: node === null && OF_A_NODE.includes(tab) ? "modules" : tab,
    level: oneOf(["modules", "symbols"], text("level"), NOTHING.level),
    by: oneOf(["folder", "language", "kind"], text("by"), NOTHING.by),
    least: oneOf(SURENESS, text("least"), NOTHING.least),
    depth: depthOf(text("depth")),
    direction: oneOf(["dependents", "dependencies"], text("direction"), NOTHING.direction),
    isRings: text("draw") !== "map",
    tag: text("tag"),
    pattern: text("path"),
  };
}

/** The address of a view; what is as usual is left out. */
export function searchOf(view: GraphView): Search {
  const said: [string, string, string][] = [
    ["node", view.node ?? "", ""],
    ["tab", view.tab, view.node === null ? "modules" : "neighbours"],
    ["level", view.level, NOTHING.level],
    ["by", view.by, NOTHING.by],
    ["least", view.least, NOTHING.least],
    ["depth", String(view.depth), String(NOTHING.depth)],
    ["direction", view.direction, NOTHING.direction],
    ["draw", view.isRings ? "rings" : "map", "rings"],
    ["tag", view.tag, ""],
    ["path", view.pattern, ""],
  ];
  return Object.fromEntries(said.flatMap(([name, value, usual]) => (value === usual ? [] : [[name, value]])));
}

/** The view after something else is chosen: the tab stays if it is about a node. */
export function chosen(view: GraphView, node: string | null): GraphView {
  const tab = node === null ? "modules" : OF_A_NODE.includes(view.tab) ? view.tab : "neighbours";
  return { ...view, node, tab };
}

/** The router makes numbers and yes-or-nos of texts that look like them, and only of those that come back the same. */
function textOf(value: unknown): string {
  return ["string", "number", "boolean"].includes(typeof value) ? String(value) : "";
}

function oneOf<Value extends string>(known: readonly Value[], given: string, usual: Value): Value {
  return known.find((value) => value === given) ?? usual;
}

function depthOf(given: string): number {
  const depth = Number.parseInt(given, 10);
  return depth >= 1 && depth <= DEEPEST ? depth : NOTHING.depth;
}
