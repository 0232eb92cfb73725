/** What the colours and shapes of a drawing stand for: the largest groups, and all others together. Pure. */

export type By = "folder" | "language" | "kind";
export type Group = { name: string; count: number };
/** For each node the place of its group; the last group may be of all that are left. */
export type Grouping = { groups: readonly Group[]; of: Uint8Array };

export const MOST_GROUPS = 8;
export const OTHERS = "others";
const FEWEST_FOLDERS = 4;
const DEEPEST = 6;

export function grouped(names: readonly string[]): Grouping {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const largest = [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
  const shown = largest.length > MOST_GROUPS ? largest.slice(0, MOST_GROUPS - 1) : largest;
  const places = new Map(shown.map(([name], place) => [name, place]));
  const groups = shown.map(([name, count]) => ({ name, count }));
  const left = names.length - groups.reduce((sum, { count }) => sum + count, 0);
  if (left > 0) groups.push({ name: OTHERS, count: left });
  return { groups, of: Uint8Array.from(names, (name) => places.get(name) ?? shown.length) };
}

/** The folder of each file, as deep as it takes to tell a few of them apart. */
export function foldersOf(paths: readonly string[]): string[] {
  const parts = paths.map((path) => path.split("/").slice(0, -1));
  for (let depth = 1; ; depth++) {
    const names = parts.map((folders) => folders.slice(0, depth).join("/") || "(top)");
    if (depth === DEEPEST || new Set(names).size >= FEWEST_FOLDERS) return names;
  }
}
