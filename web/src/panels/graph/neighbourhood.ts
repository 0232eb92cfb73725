/** The neighbours of a node, by what they are to it. Pure. */
import type { CodeLink, CodeSymbol, Neighbours } from "@/wire/types";
import { NEIGHBOUR_WORDS } from "./words";

export type Entry = { symbol: CodeSymbol; link: CodeLink };
export type Neighbourhood = { title: string; entries: Entry[] };

/** What refers to it comes first, and what merely is in it last. */
const ORDER = [
  "Tested by",
  "Called by",
  "Used by",
  "Imported by",
  "Inherited by",
  "Overridden by",
  "Serves",
  "Calls",
  "Uses",
  "Imports",
  "Inherits from",
  "Overrides",
  "Served by",
  "Tests",
  "Is in",
  "Contains",
];

export function neighbourhood({ center, nodes, links }: Neighbours): Neighbourhood[] {
  const symbols = new Map(nodes.map((symbol) => [symbol.id, symbol]));
  const groups = new Map<string, Map<string, Entry>>();
  for (const link of links) {
    const isGoing = link.source === center.id;
    const symbol = symbols.get(isGoing ? link.target : link.source);
    if (symbol === undefined || (!isGoing && link.target !== center.id)) continue;
    const title = NEIGHBOUR_WORDS[link.relation][isGoing ? "going" : "coming"];
    const group = groups.get(title) ?? new Map<string, Entry>();
    if (!group.has(symbol.id)) group.set(symbol.id, { symbol, link });
    groups.set(title, group);
  }
  return [...groups]
    .map(([title, entries]) => ({ title, entries: [...entries.values()] }))
    .sort((a, b) => ORDER.indexOf(a.title) - ORDER.indexOf(b.title));
}
