/** A graph made ready to be drawn: numbers in arrays, texts that are fit to be shown. Pure; runs in the worker. */
import { visibleLine } from "@/parts/visible";
import type { CodeGraph, CodeLink, CodeSymbol, Sureness } from "@/wire/types";
import type { Bounds } from "./camera";
import { type By, foldersOf, type Grouping, grouped } from "./groups";
import { type Area, type Layout, laidOut } from "./layout";

export type Links = {
  from: Uint32Array;
  to: Uint32Array;
  /** How sure each is: a place in SURENESS. */
  sure: Uint8Array;
  /** What a line bends towards: the middle of the folder that both of its ends are in. */
  bendX: Float32Array;
  bendY: Float32Array;
};

/** What there is to see, and where. */
export type Drawn = {
  ids: readonly string[];
  labels: readonly string[];
  x: Float32Array;
  y: Float32Array;
  r: Float32Array;
  areas: readonly Area[];
  /** Where all of it is. */
  bounds: Bounds;
  links: Links;
};

/** The map of a repository. */
export type Scene = Drawn & {
  paths: readonly string[];
  /** How many others refer to each. */
  fanIn: Uint32Array;
  groupings: Record<By, Grouping>;
  /** How many there are, whether they are drawn or not. */
  totalNodes: number;
  totalLinks: number;
};

/** From the least sure to the surest. */
export const SURENESS: readonly Sureness[] = ["by-name", "inferred", "resolved"];

const SMALLEST = 4;
const GROWTH = 1.8;
const LARGEST = 40;
const BEND = 0.45;
const LONGEST_LABEL = 48;

export function sceneOf(graph: CodeGraph): Scene {
  const { nodes } = graph;
  const places = new Map(nodes.map(({ id }, place) => [id, place]));
  const drawn = graph.links.filter(({ source, target }) => places.has(source) && places.has(target));
  const fanIn = new Uint32Array(nodes.length);
  for (const { target } of drawn) {
    const place = places.get(target) ?? 0;
    fanIn[place] = (fanIn[place] ?? 0) + 1;
  }
  const r = Float32Array.from(fanIn, (count) => Math.min(LARGEST, SMALLEST + GROWTH * Math.sqrt(count)));
  const layout = laidOut(
    nodes.map((node) => foldersAround(node, graph.level)),
    r,
  );
  const paths = nodes.map(({ path }) => path);
  return {
    ids: nodes.map(({ id }) => id),
    labels: nodes.map(labelOf),
    paths,
    fanIn,
    x: layout.x,
    y: layout.y,
    r,
    areas: layout.areas.map((area) => ({ ...area, name: visibleLine(area.name) })),
    bounds: layout.bounds,
    links: linksOf(drawn, places, layout),
    groupings: {
      folder: grouped(foldersOf(paths).map(visibleLine)),
      language: grouped(nodes.map(({ language }) => visibleLine(language))),
      kind: grouped(nodes.map(({ kind }) => kind)),
    },
    totalNodes: graph.total_nodes,
    totalLinks: graph.total_links,
  };
}

/** The last part of a name, which tells it apart from its neighbours. */
export function labelOf({ id, kind, path, name }: CodeSymbol): string {
  const parts = path.split("/");
  const file = /^(__init__|index|mod|main)\./.test(parts.at(-1) ?? "") ? parts.slice(-2) : parts.slice(-1);
  const own = id.startsWith(`${path}::`) ? id.slice(path.length + 2) : name;
  return shortened(visibleLine(kind === "module" ? file.join("/") : own));
}

export const shortened = (text: string, longest = LONGEST_LABEL) =>
  text.length > longest ? `${text.slice(0, longest - 1)}…` : text;

/** Symbols are drawn in a circle for each file. */
function foldersAround({ path }: CodeSymbol, level: CodeGraph["level"]): string[] {
  const parts = path.split("/");
  return level === "modules" ? parts.slice(0, -1) : parts;
}

function linksOf(drawn: readonly CodeLink[], places: ReadonlyMap<string, number>, layout: Layout): Links {
  const from = Uint32Array.from(drawn, ({ source }) => places.get(source) ?? 0);
  const to = Uint32Array.from(drawn, ({ target }) => places.get(target) ?? 0);
  const bendX = new Float32Array(drawn.length);
  const bendY = new Float32Array(drawn.length);
  for (let link = 0; link < drawn.length; link++) {
    const [a, b] = [from[link] ?? 0, to[link] ?? 0];
    const [x, y] = [middle(layout.x, a, b), middle(layout.y, a, b)];
    const area = layout.areas[sharedArea(layout, a, b)];
    const isWithin = layout.area[a] === layout.area[b];
    bendX[link] = area && !isWithin ? x + (area.x - x) * BEND : x;
    bendY[link] = area && !isWithin ? y + (area.y - y) * BEND : y;
  }
  return {
    from,
    to,
    sure: Uint8Array.from(drawn, ({ confidence }) => SURENESS.indexOf(confidence)),
    bendX,
    bendY,
  };
}

const middle = (values: Float32Array, a: number, b: number) => ((values[a] ?? 0) + (values[b] ?? 0)) / 2;

function sharedArea({ area, areas }: Layout, a: number, b: number): number {
  let [one, other] = [area[a] ?? -1, area[b] ?? -1];
  while (one !== other && one >= 0 && other >= 0) {
    if ((areas[one]?.depth ?? 0) >= (areas[other]?.depth ?? 0)) one = areas[one]?.parent ?? -1;
    else other = areas[other]?.parent ?? -1;
  }
  return one === other ? one : 0;
}
