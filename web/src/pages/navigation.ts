/** Which pages one is led to: those whose sessions exist. */
import { useQueries } from "@tanstack/react-query";
import { newestOfQuery } from "@/wire/queries";
import { PAGES, type Page } from "./index";

const WORKFLOWS = [...new Set(PAGES.flatMap((page) => page.workflow ?? []))];

export function useNavigation(): readonly Page[] {
  const found = useQueries({ queries: WORKFLOWS.map(newestOfQuery) });
  const known = new Set(found.flatMap(({ data }) => data?.sessions ?? []).map((session) => session.workflow));
  return PAGES.filter((page) => page.title && (page.workflow === undefined || known.has(page.workflow)));
}
