/** Single-key shortcuts: never while somebody types, never over a dialog, and they can be switched off. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { recall, remember } from "./memory";

export type Keys = Record<string, () => void>;

/** While this component is shown, a key does what the table says. Ctrl or ⌘ with a key is written `mod+k`. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const act = latest.current[nameOf(event)];
      if (act === undefined || event.defaultPrevented || !isMeant(event)) return;
      event.preventDefault();
      act();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** Whether single keys do anything, and how to change that. */
export function useKeysSwitch(): [boolean, (on: boolean) => void] {
  return [useSyncExternalStore(listen, areOn), switchKeys];
}

const listeners = new Set<() => void>();

function switchKeys(on: boolean): void {
  remember("keys", on);
  for (const listener of listeners) listener();
}

const areOn = () => recall<boolean>("keys") !== false;

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function nameOf(event: KeyboardEvent): string {
  const modified = event.ctrlKey || event.metaKey ? "mod+" : "";
  return modified + event.key.toLowerCase();
}

function isMeant(event: KeyboardEvent): boolean {
  if (event.altKey || event.isComposing) return false;
  if (event.ctrlKey || event.metaKey) return true;
  if (!areOn() || document.querySelector("[role=dialog]") !== null) return false;
  const target = event.target instanceof Element ? event.target : null;
  if (target?.closest("input, textarea, select, [contenteditable=true]")) return false;
  return event.key !== "Enter" || !target?.closest("a, button, summary");
}
