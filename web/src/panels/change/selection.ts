/** Which hunks of a change are chosen. Pure: all are, but for those that were left out. */
import { type Hunk, hunksOf, patchOf } from "@/parts/patch";
import type { CodeChange } from "@/wire/change";

export type FileDiff = { path: string; hunks: readonly Hunk[] };
export type LeftOut = ReadonlySet<string>;

export const filesOf = (changes: readonly CodeChange[]): FileDiff[] =>
  changes.map(({ path, diff }) => ({ path, hunks: hunksOf(diff) }));

/** A hunk is named by its place and its content, so that another one is never taken for it. */
export const nameOf = (path: string, hunk: Hunk) =>
  [path, hunk.header, ...hunk.lines.map(({ kind, text }) => `${kind} ${text}`)].join("\n");

export const namesIn = ({ path, hunks }: FileDiff) => hunks.map((hunk) => nameOf(path, hunk));

export function switched(leftOut: LeftOut, names: readonly string[], isChosen: boolean): LeftOut {
  const next = new Set(leftOut);
  for (const name of names) isChosen ? next.delete(name) : next.add(name);
  return next;
}

/** The chosen hunks as a patch that `git apply` takes. */
export function chosenPatch(files: readonly FileDiff[], leftOut: LeftOut): string {
  return files
    .map((file) => ({ ...file, hunks: file.hunks.filter((hunk) => !leftOut.has(nameOf(file.path, hunk))) }))
    .filter(({ hunks }) => hunks.length > 0)
    .map(({ path, hunks }) => patchOf(path, hunks))
    .join("");
}

/** What to tell the session about the hunks that are not wanted. */
export function objection(files: readonly FileDiff[], leftOut: LeftOut): string {
  const places = files.flatMap(({ path, hunks }) =>
    hunks.filter((hunk) => leftOut.has(nameOf(path, hunk))).map(({ header }) => `- ${path} ${header}`),
  );
  return ["Take these parts of the change back:", ...places].join("\n");
}
