/** Light or dark: as the system has it, until somebody says otherwise. */
import { useSyncExternalStore } from "react";
import { recall, remember } from "@/parts/memory";

export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const listeners = new Set<() => void>();
const systemIsDark = () => window.matchMedia("(prefers-color-scheme: dark)");

/** Put the theme on the page, and keep it there when the system changes. */
export function startTheme(): void {
  systemIsDark().addEventListener("change", apply);
  apply();
}

export function useTheme(): [Theme, () => void] {
  return [useSyncExternalStore(listen, chosen), next];
}

function next(): void {
  const following = THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length] ?? "system";
  remember("theme", following);
  apply();
  for (const listener of listeners) listener();
}

function chosen(): Theme {
  const kept = recall<Theme>("theme");
  return kept !== null && THEMES.includes(kept) ? kept : "system";
}

function apply(): void {
  const theme = chosen();
  const isDark = theme === "dark" || (theme === "system" && systemIsDark().matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
