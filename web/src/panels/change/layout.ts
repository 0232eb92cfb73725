/** Where the modules stand in the picture: first what is changed, then what uses it. Pure. */
import dagre from "@dagrejs/dagre";
import type { Impact, Module } from "@/wire/change";

export type Placed = { module: Module; x: number; y: number };
/** `isAcross`: from left to right, which leaves room for many in a row; else from top to bottom. */
export type Layout = { placed: Placed[]; edges: Impact["edges"]; isAcross: boolean };

export const WIDTH = 180;
export const HEIGHT = 36;
const MOST = 150;
const FEW = 3;

/** The nearest modules, as many as one can take in, with the lines between them. */
export function laidOut({ modules, edges }: Impact): Layout {
  const nearest = [...modules].sort((one, other) => one.distance - other.distance).slice(0, MOST);
  const names = new Set(nearest.map((module) => module.name));
  const shown = edges.filter(([from, to]) => names.has(from) && names.has(to));
  const isAcross = widest(nearest) > FEW;
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: isAcross ? "LR" : "TB", nodesep: 12, ranksep: 40 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of nearest) graph.setNode(name, { width: WIDTH, height: HEIGHT });
  for (const [from, to] of shown) graph.setEdge(from, to);
  dagre.layout(graph);
  const placed = nearest.map((module) => {
    const { x, y } = graph.node(module.name);
    return { module, x: x - WIDTH / 2, y: y - HEIGHT / 2 };
  });
  return { placed, edges: shown, isAcross };
}

/** How many modules are equally far away, at most. */
function widest(modules: readonly Module[]): number {
  const counts = new Map<number, number>();
  for (const { distance } of modules) counts.set(distance, (counts.get(distance) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
