/** Graphs and their answers as the server sends them. */
import type { CodeGraph, CodeLink, CodeSymbol, Impact, Repository } from "@/wire/types";

export const REPO: Repository = {
  id: "0123456789abcdef",
  name: "shop",
  source: "https://git.test/shop.git",
  folder: "/home/repos/shop",
  commit: "a".repeat(40),
  built_at: "2026-03-01T12:00:00Z",
  built: {
    files: 3,
    nodes: 9,
    edges: 12,
    parsed: 3,
    relinked: 3,
    seconds: 0.1,
    broken: [],
    skipped: {},
    truncated: false,
    languages: { python: 3 },
    rebuilt: null,
  },
};

export const symbol = (id: string, kind: CodeSymbol["kind"] = "module"): CodeSymbol => ({
  id,
  kind,
  name: id.replaceAll("/", ".").replace(".py", "").replace("::", "."),
  path: id.split("::")[0] ?? id,
  line: 1,
  end_line: 9,
  language: "python",
  tags: [],
});

export const link = (source: string, target: string, more: Partial<CodeLink> = {}): CodeLink => ({
  source,
  target,
  relation: "calls",
  confidence: "resolved",
  path: source.split("::")[0] ?? source,
  line: 31,
  column: 4,
  count: 1,
  ...more,
});

export const graph = (nodes: CodeSymbol[], links: CodeLink[]): CodeGraph => ({
  level: "modules",
  nodes,
  links,
  total_nodes: nodes.length,
  total_links: links.length,
  truncated: false,
});

export const impact = (more: Partial<Impact>): Impact => ({
  targets: [],
  direction: "dependents",
  depth: 3,
  least: "by-name",
  modules: [],
  symbols: [],
  tests: [],
  endpoints: [],
  risk: { score: 0, level: "low", reasons: [] },
  totals: {
    modules: more.modules?.length ?? 0,
    symbols: more.symbols?.length ?? 0,
    tests: more.tests?.length ?? 0,
    endpoints: more.endpoints?.length ?? 0,
  },
  truncated: false,
  ...more,
});
