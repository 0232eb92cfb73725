/** What is told apart in a drawing once something is chosen: what was asked about, and what that comes to. Pure. */
import type { CodeSymbol, Impact } from "@/wire/types";
import type { Scene } from "./scene";

export const ROLES = ["none", "target", "neighbour", "hit", "test", "endpoint"] as const;
export type Role = (typeof ROLES)[number];

/** For each node a place in ROLES, and how many references away it is. */
export type Marks = {
  role: Uint8Array;
  depth: Uint8Array;
  /** Which lines stand out: those of the targets, or all between marked nodes. */
  lines: "of targets" | "all";
};

export type Places = ReadonlyMap<string, number>;

export const placesIn = ({ ids }: Pick<Scene, "ids">): Places => new Map(ids.map((id, place) => [id, place]));

/** The node that stands for a symbol: itself, or on a map of modules the module that it is in. */
export function placeOf(places: Places, { id, path }: Pick<CodeSymbol, "id" | "path">): number {
  return places.get(id) ?? places.get(path) ?? -1;
}

/** A node and what one line leads to, as far as the lines are sure enough. */
export function neighbourMarks({ ids, links }: Scene, chosen: number, least: number): Marks {
  const marks = noMarks(ids.length, "of targets");
  for (let link = 0; link < links.from.length; link++) {
    const [from, to] = [links.from[link] ?? 0, links.to[link] ?? 0];
    if ((links.sure[link] ?? 0) < least || (from !== chosen && to !== chosen)) continue;
    mark(marks, from === chosen ? to : from, "neighbour", 1);
  }
  mark(marks, chosen, "target", 0);
  return marks;
}

/** What a change reaches, on the map. */
export function impactMarks(scene: Scene, places: Places, impact: Impact): Marks {
  const marks = noMarks(scene.ids.length, "all");
  for (const hit of impact.modules) {
    mark(marks, places.get(hit.path) ?? -1, hit.is_test ? "test" : "hit", hit.depth);
  }
  for (const { symbol, depth } of impact.symbols) nearer(marks, placeOf(places, symbol), "hit", depth);
  for (const { symbol, depth } of testsReached(impact)) nearer(marks, placeOf(places, symbol), "test", depth);
  for (const { endpoint, depth } of impact.endpoints) {
    nearer(marks, placeOf(places, endpoint), "endpoint", depth);
  }
  for (const symbol of impact.targets) mark(marks, placeOf(places, symbol), "target", 0);
  return marks;
}

/** The tests are those that run it, also when it is asked what it needs: then they are no part of the drawing. */
export const testsReached = ({ direction, tests }: Impact) => (direction === "dependents" ? tests : []);

export const noMarks = (count: number, lines: Marks["lines"]): Marks => ({
  role: new Uint8Array(count),
  depth: new Uint8Array(count),
  lines,
});

export function mark({ role, depth }: Marks, node: number, as: Role, away: number): void {
  if (node < 0) return;
  role[node] = ROLES.indexOf(as);
  depth[node] = Math.min(away, 255);
}

/** A module of several hits is marked as the first that was told of it. */
function nearer(marks: Marks, node: number, as: Role, away: number): void {
  if (marks.role[node] === 0) mark(marks, node, as, away);
}
