/** What one looks at is kept in the address, and nowhere else. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { chosen, type GraphView, searchOf, viewOf } from "./view";

export type Change = (change: Partial<GraphView>) => void;
export type Choose = (node: string | null) => void;

export function useView(): { view: GraphView; change: Change; choose: Choose } {
  const search = useSearch({ strict: false }) as Record<string, unknown>;
  const navigate = useNavigate();
  const view = useMemo(() => viewOf(search), [search]);
  const change = useCallback<Change>(
    (given) => void navigate({ to: ".", search: searchOf({ ...view, ...given }), replace: true }),
    [navigate, view],
  );
  // One can go back to what was chosen before.
  const choose = useCallback<Choose>(
    (node) => void navigate({ to: ".", search: searchOf(chosen(view, node)) }),
    [navigate, view],
  );
  return { view, change, choose };
}
