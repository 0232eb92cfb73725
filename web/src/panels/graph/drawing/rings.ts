/** What a change reaches, as rings around it: one for each reference that lies between. Pure. */
import { visibleLine } from "@/parts/visible";
import type { CodeLink, Impact, Level } from "@/wire/types";
import { boundsOf } from "./camera";
import { type Area, TOP } from "./layout";
import { type Marks, mark, noMarks, type Role, testsReached } from "./marks";
import { type Drawn, type Links, labelOf, SURENESS, shortened } from "./scene";

/** `left` says how many more there are than are drawn. */
export type Rings = { drawn: Drawn; marks: Marks; left: number };

type Node = { id: string; label: string; role: Role; depth: number; why: readonly CodeLink[] };
type Line = { from: number; to: number; sure: number };

const RADIUS = 9;
const BETWEEN_RINGS = 110;
const BETWEEN_NODES = 44;
const LONGEST_LABEL = 30;
const MOST_OF_A_ROLE = 60;

export function ringsOf(impact: Impact, level: Level): Rings {
  const nodes = nodesOf(impact, level);
  const places = new Map(nodes.map(({ id }, place) => [id, place]));
  const targets = nodes.flatMap(({ id, depth }) => (depth === 0 ? [id] : []));
  const chains = nodes.map((node) => chainOf(node, places, impact.direction, level, targets));
  const angles = new Float32Array(nodes.length);
  const radii = radiiOf(nodes);
  for (const depth of [...radii.keys()].sort((a, b) => a - b)) {
    turn(nodes, chains, angles, depth);
  }
  const at = (node: number) => radii.get(nodes[node]?.depth ?? 0) ?? 0;
  const x = Float32Array.from(angles, (angle, node) => at(node) * Math.cos(angle));
  const y = Float32Array.from(angles, (angle, node) => at(node) * Math.sin(angle));
  const outermost = Math.max(0, ...radii.values());
  const marks = noMarks(nodes.length, "all");
  for (const [place, { role, depth }] of nodes.entries()) mark(marks, place, role, depth);
  return {
    drawn: {
      ids: nodes.map(({ id }) => id),
      labels: nodes.map(({ label }) => shortened(label, LONGEST_LABEL)),
      x,
      y,
      r: Float32Array.from(nodes, ({ depth }) => (depth === 0 ? RADIUS * 1.5 : RADIUS)),
      areas: areasOf(radii, nodes, angles),
      bounds: boundsOf([{ x: 0, y: 0, r: outermost + BETWEEN_RINGS / 2 }]),
      links: linesOf(chains, impact.direction, x, y),
    },
    marks,
    left: leftOut(impact, level),
  };
}

function leftOut({ totals, direction }: Impact, level: Level): number {
  const tests = direction === "dependents" ? totals.tests : 0;
  const counts = level === "modules" ? [totals.modules] : [totals.symbols, tests];
  return [...counts, totals.endpoints].reduce((sum, count) => sum + Math.max(0, count - MOST_OF_A_ROLE), 0);
}

function nodesOf(impact: Impact, level: Level): Node[] {
  const found = new Map<string, Node>();
  const add = (node: Node) => {
    if (!found.has(node.id)) found.set(node.id, node);
  };
  for (const symbol of impact.targets) {
    const id = level === "modules" ? symbol.path : symbol.id;
    add({ id, label: labelOf(symbol), role: "target", depth: 0, why: [] });
  }
  if (level === "modules") {
    for (const { path, depth, is_test, why } of impact.modules.slice(0, MOST_OF_A_ROLE)) {
      add({ id: path, label: fileOf(path), role: is_test ? "test" : "hit", depth, why });
    }
  } else {
    for (const { symbol, depth, why } of impact.symbols.slice(0, MOST_OF_A_ROLE)) {
      add({ id: symbol.id, label: labelOf(symbol), role: "hit", depth, why });
    }
    for (const { symbol, depth, why } of testsReached(impact).slice(0, MOST_OF_A_ROLE)) {
      add({ id: symbol.id, label: labelOf(symbol), role: "test", depth, why });
    }
  }
  for (const { endpoint, depth, why } of impact.endpoints.slice(0, MOST_OF_A_ROLE)) {
    const label = visibleLine(`${endpoint.method} ${endpoint.route}`);
    add({ id: endpoint.id, label, role: "endpoint", depth, why });
  }
  return [...found.values()];
}

const fileOf = (path: string) =>
  labelOf({ id: path, kind: "module", name: path, path, line: 1, end_line: 1, language: "" });

/** Outermost first. Their names are between two nodes, as near to the top as can be. */
function areasOf(radii: ReadonlyMap<number, number>, nodes: readonly Node[], angles: Float32Array): Area[] {
  const rings = [...radii].filter(([depth]) => depth > 0).sort(([a], [b]) => b - a);
  return rings.map(([depth, r]) => {
    const taken = [...angles].filter((_, node) => nodes[node]?.depth === depth);
    const first = (taken[0] ?? TOP) - TOP;
    const step = (2 * Math.PI) / taken.length;
    const angle = TOP + first - step * (Math.round(first / step - 0.5) + 0.5);
    return { name: `${depth} away`, x: 0, y: 0, r, depth, parent: -1, angle };
  });
}

type Link = { place: number; sure: number };

/** The nodes on the way from a node to what was asked about, itself first. */
function chainOf(
  { id, why }: Node,
  places: ReadonlyMap<string, number>,
  direction: Impact["direction"],
  level: Level,
  targets: readonly string[],
): Link[] {
  const chain: Link[] = [{ place: places.get(id) ?? 0, sure: 0 }];
  for (const { source, target, confidence } of why) {
    const sure = SURENESS.indexOf(confidence);
    for (const end of direction === "dependents" ? [source, target] : [target, source]) {
      const place = places.get(end) ?? (level === "modules" ? places.get(pathIn(end)) : undefined);
      if (place === undefined || place === chain.at(-1)?.place) continue;
      chain.push({ place, sure });
    }
  }
  return ended(chain, why.at(-1), places, targets);
}

/** What was asked about may be the class of the method that a path leads to: the path ends there all the same. */
function ended(
  chain: Link[],
  last: CodeLink | undefined,
  places: ReadonlyMap<string, number>,
  targets: readonly string[],
): Link[] {
  const ends = [last?.source ?? "", last?.target ?? ""];
  const target = targets.find((id) => ends.some((end) => end.startsWith(id))) ?? targets[0];
  const place = places.get(target ?? "");
  if (place === undefined || chain.some((link) => link.place === place)) return chain;
  return [...chain, { place, sure: last ? SURENESS.indexOf(last.confidence) : SURENESS.length - 1 }];
}

/** The file that a symbol's id begins with. */
const pathIn = (id: string) => id.split("::", 1)[0] ?? id;

function radiiOf(nodes: readonly Node[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { depth } of nodes) counts.set(depth, (counts.get(depth) ?? 0) + 1);
  const radii = new Map<number, number>();
  let last = 0;
  for (const [depth, count] of [...counts].sort(([a], [b]) => a - b)) {
    const needed = count > 1 ? (count * BETWEEN_NODES) / (2 * Math.PI) : 0;
    last = depth === 0 ? needed : Math.max(last + BETWEEN_RINGS, needed);
    radii.set(depth, last);
  }
  return radii;
}

/** Spread the nodes of a ring evenly, in the order of what they hang on and turned towards it. */
function turn(
  nodes: readonly Node[],
  chains: readonly (readonly Link[])[],
  angles: Float32Array,
  depth: number,
): void {
  const above = (node: number) => angles[chains[node]?.[1]?.place ?? node] ?? 0;
  const ring = nodes
    .flatMap((node, place) => (node.depth === depth ? [place] : []))
    .sort((a, b) => above(a) - above(b) || ((nodes[a]?.id ?? "") < (nodes[b]?.id ?? "") ? -1 : 1));
  const even = (place: number) => (2 * Math.PI * place) / ring.length;
  let [sine, cosine] = [0, 0];
  for (const [place, node] of ring.entries()) {
    sine += Math.sin(above(node) - even(place));
    cosine += Math.cos(above(node) - even(place));
  }
  const turned = depth > 1 ? Math.atan2(sine, cosine) : TOP;
  for (const [place, node] of ring.entries()) angles[node] = even(place) + turned;
}

function linesOf(
  chains: readonly (readonly Link[])[],
  direction: Impact["direction"],
  x: Float32Array,
  y: Float32Array,
): Links {
  const lines = new Map<string, Line>();
  for (const chain of chains) {
    for (const [step, { place }] of chain.entries()) {
      const next = chain[step + 1];
      if (next === undefined) continue;
      const [from, to] = direction === "dependents" ? [place, next.place] : [next.place, place];
      const known = lines.get(`${from} ${to}`);
      lines.set(`${from} ${to}`, { from, to, sure: Math.max(next.sure, known?.sure ?? 0) });
    }
  }
  const all = [...lines.values()];
  const half = (values: Float32Array, { from, to }: Line) => ((values[from] ?? 0) + (values[to] ?? 0)) / 2;
  return {
    from: Uint32Array.from(all, ({ from }) => from),
    to: Uint32Array.from(all, ({ to }) => to),
    sure: Uint8Array.from(all, ({ sure }) => sure),
    bendX: Float32Array.from(all, (line) => half(x, line)),
    bendY: Float32Array.from(all, (line) => half(y, line)),
  };
}
