import type { Script, ScriptCall } from "@/session/script";
import type { Row } from "@/session/story";

/** A row that tells of a script's call; the first in a run of them names the script. */
export type WithinScript = { call: ScriptCall; script: Script | undefined; title: string; isFirst: boolean };
export type RowProps = {
  row: Row;
  isOpen: boolean;
  toggle: () => void;
  isWanted: boolean;
  within: WithinScript | null;
};

export function rowLook({ row, isWanted }: RowProps): string {
  const wanted = isWanted ? "bg-accent-soft" : "";
  return `border-b border-line/60 px-3 py-1.5 ${wanted} ${row.isLeftBehind ? "bg-raised" : ""}`;
}

const LONGEST = 120;

/** What a call was about, from its plain parameters: enough to tell it from the next one. */
export function hintOf(input: unknown): string {
  const params: unknown = Array.isArray(input) ? input[0] : input;
  if (typeof params !== "object" || params === null) return "";
  const plain = Object.values(params).filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  return plain.join(" · ").slice(0, LONGEST);
}
