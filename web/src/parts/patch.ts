/** Unified diffs, taken apart into hunks and put together again. Pure; a line that fits nowhere is shown as it is. */

export type LineKind = "added" | "removed" | "same" | "note";
export type Line = { kind: LineKind; text: string; before: number | null; after: number | null };
export type Hunk = { header: string; lines: readonly Line[] };

export function hunksOf(diff: string): Hunk[] {
  const hunks: { header: string; lines: Line[] }[] = [];
  let [before, after] = [0, 0];
  for (const text of diff.replace(/\n$/, "").split("\n")) {
    const start = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);
    if (start) {
      [before, after] = [Number(start[1]), Number(start[2])];
      hunks.push({ header: text, lines: [] });
      continue;
    }
    const kind = KINDS[text[0] ?? " "] ?? "note";
    hunks.at(-1)?.lines.push({
      kind,
      text: text.slice(1),
      before: kind === "same" || kind === "removed" ? before++ : null,
      after: kind === "same" || kind === "added" ? after++ : null,
    });
  }
  return hunks;
}

/** A patch with only these hunks of the file. */
export function patchOf(path: string, hunks: readonly Hunk[]): string {
  const lines = hunks.flatMap(({ header, lines }) => [
    header,
    ...lines.map(({ kind, text }) => `${SIGNS[kind]}${text}`),
  ]);
  return [`--- a/${path}`, `+++ b/${path}`, ...lines, ""].join("\n");
}

/** How many lines come and go. */
export function sizeOf(hunks: readonly Hunk[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const of = (kind: LineKind) => lines.filter((line) => line.kind === kind).length;
  return { added: of("added"), removed: of("removed") };
}

const KINDS: Record<string, LineKind> = { "+": "added", "-": "removed", " ": "same", "\\": "note" };
const SIGNS: Record<LineKind, string> = { added: "+", removed: "-", same: " ", note: "\\" };
