/** The graph in words that a person uses. Pure. */
import { visibleLine } from "@/parts/visible";
import type { CodeLink, CodeSymbol, Direction, Sureness } from "@/wire/types";

type Relation = CodeLink["relation"];

/** One thing … another. */
export const RELATION_WORDS: Record<Relation, string> = {
  contains: "contains",
  imports: "imports",
  calls: "calls",
  inherits: "inherits from",
  overrides: "overrides",
  uses: "uses",
  serves: "is served by",
  tests: "tests",
};

/** What a node's neighbours are to it, where it refers to them and where they refer to it. */
export const NEIGHBOUR_WORDS: Record<Relation, { going: string; coming: string }> = {
  contains: { going: "Contains", coming: "Is in" },
  imports: { going: "Imports", coming: "Imported by" },
  calls: { going: "Calls", coming: "Called by" },
  inherits: { going: "Inherits from", coming: "Inherited by" },
  overrides: { going: "Overrides", coming: "Overridden by" },
  uses: { going: "Uses", coming: "Used by" },
  serves: { going: "Served by", coming: "Serves" },
  tests: { going: "Tests", coming: "Tested by" },
};

export const SURENESS_WORDS: Record<Sureness, string> = {
  resolved: "resolved",
  inferred: "inferred",
  "by-name": "by name",
};

export const LEAST_WORDS: Record<Sureness, string> = {
  "by-name": "All links",
  inferred: "Inferred or surer",
  resolved: "Resolved only",
};

export const DIRECTION_WORDS: Record<Direction, string> = {
  dependents: "What depends on it",
  dependencies: "What it needs",
};

/** The part of an id that tells it apart: Cart.add, for src/shop/cart.py::Cart.add; a file by its path. */
export function shortId(id: string): string {
  const [, ...own] = id.split("::");
  return visibleLine(own.length > 0 ? own.join("::") : id);
}

export const placeWords = ({ path, line }: Pick<CodeSymbol, "path" | "line">) =>
  visibleLine(`${path}:${line}`);

/** 1 module, 2 modules. */
export const counted = (count: number, one: string, many = `${one}s`) =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

export const away = (depth: number) => (depth === 1 ? "1 reference away" : `${depth} references away`);
