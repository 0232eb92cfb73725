import type { Row } from "@/session/story";

export type RowProps = { row: Row; isOpen: boolean; toggle: () => void; isWanted: boolean };

export function rowLook({ row, isWanted }: RowProps): string {
  const wanted = isWanted ? "bg-accent-soft" : "";
  return `border-b border-line/60 px-3 py-1.5 ${wanted} ${row.isLeftBehind ? "bg-raised" : ""}`;
}
