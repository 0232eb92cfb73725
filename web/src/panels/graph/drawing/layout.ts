/** Where the nodes stand: folders are circles in circles, and the most used things are in the middle of theirs. Pure. */
import { type HierarchyCircularNode, hierarchy, pack } from "d3-hierarchy";
import { type Bounds, boundsOf } from "./camera";

/** A circle around the nodes that belong together. `parent` is a place in the same list, or -1. */
export type Area = {
  name: string;
  x: number;
  y: number;
  r: number;
  depth: number;
  parent: number;
  /** Where on the circle the name is. */
  angle: number;
};
/** `area` is the innermost one of each node. */
export type Layout = { x: Float32Array; y: Float32Array; area: Int32Array; areas: Area[]; bounds: Bounds };

type Folder = { name: string; folders: Map<string, Folder>; leaves: number[]; size: number };
type Part = Folder | number;

export const TOP = -Math.PI / 2;
const BETWEEN_LEAVES = 3;
const BETWEEN_FOLDERS = 6;

/** `folders` has for each node the folders that it is in, outermost first. */
export function laidOut(folders: readonly (readonly string[])[], radii: Float32Array): Layout {
  const top = treeOf(folders);
  const packed = pack<Part>()
    .radius(({ data }) => (typeof data === "number" ? (radii[data] ?? 1) : 0))
    .padding(({ children }) => (children?.some(isFolder) ? BETWEEN_FOLDERS : BETWEEN_LEAVES))(
    hierarchy<Part>(shortened(top), (part) => partsOf(part, radii)),
  );
  return placesOf(packed, radii.length);
}

const isFolder = (node: { data: Part }) => typeof node.data !== "number";

function treeOf(folders: readonly (readonly string[])[]): Folder {
  const top = folder("");
  for (const [leaf, names] of folders.entries()) {
    let at = top;
    at.size++;
    for (const name of names) {
      let next = at.folders.get(name);
      if (next === undefined) {
        next = folder(name);
        at.folders.set(name, next);
      }
      at = next;
      at.size++;
    }
    at.leaves.push(leaf);
  }
  return top;
}

const folder = (name: string): Folder => ({ name, folders: new Map(), leaves: [], size: 0 });

/** A folder with nothing but one folder in it is shown as one: src/shop. */
function shortened(given: Folder): Folder {
  let at = given;
  const names = [given.name];
  while (at.leaves.length === 0 && at.folders.size === 1) {
    for (const only of at.folders.values()) at = only;
    names.push(at.name);
  }
  return { ...at, name: names.filter(Boolean).join("/") };
}

function partsOf(part: Part, radii: Float32Array): Part[] | undefined {
  if (typeof part === "number") return undefined;
  const inner = [...part.folders.values()].map(shortened).sort((a, b) => b.size - a.size);
  const leaves = [...part.leaves].sort((a, b) => (radii[b] ?? 0) - (radii[a] ?? 0) || a - b);
  return [...inner, ...leaves];
}

function placesOf(packed: HierarchyCircularNode<Part>, count: number): Layout {
  const { x: middleX, y: middleY } = packed;
  // The circle around all of it is mostly empty, so it is left out of what is shown at first.
  const outermost = packed.children ?? [packed];
  const layout: Layout = {
    x: new Float32Array(count),
    y: new Float32Array(count),
    area: new Int32Array(count).fill(-1),
    areas: [],
    bounds: boundsOf(outermost.map(({ x, y, r }) => ({ x: x - middleX, y: y - middleY, r }))),
  };
  const places = new Map<HierarchyCircularNode<Part>, number>();
  packed.eachBefore((node) => {
    const parent = node.parent ? (places.get(node.parent) ?? -1) : -1;
    const [x, y] = [node.x - middleX, node.y - middleY];
    if (typeof node.data === "number") {
      layout.x[node.data] = x;
      layout.y[node.data] = y;
      layout.area[node.data] = parent;
      return;
    }
    places.set(node, layout.areas.length);
    layout.areas.push({ name: node.data.name, x, y, r: node.r, depth: node.depth, parent, angle: TOP });
  });
  return layout;
}
