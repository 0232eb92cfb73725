/** What waits for a person shows in the tab's title and, if wanted, as a notification of the browser. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { recall, remember } from "@/parts/memory";
import { visibleLine } from "@/parts/visible";
import { inboxQuery } from "@/wire/queries";
import type { Pending } from "@/wire/types";

/** How many requests wait; the title says so too. */
export function useAttention(): number {
  const { data } = useQuery(inboxQuery);
  const known = useRef<ReadonlySet<string> | null>(null);
  const count = data?.length ?? 0;
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Belayer` : "Belayer";
  }, [count]);
  useEffect(() => {
    if (data === undefined) return;
    const fresh = data.filter((one) => known.current?.has(one.request.request_id) === false);
    known.current = new Set(data.map((one) => one.request.request_id));
    if (fresh.length > 0) notify(fresh);
  }, [data]);
  return count;
}

export type Notifying = "on" | "off" | "refused" | "impossible";

/** Whether the browser tells of new requests, and how to change that. */
export function useNotifying(): [Notifying, () => void] {
  return [useSyncExternalStore(listen, state), () => void toggle()];
}

const listeners = new Set<() => void>();

function state(): Notifying {
  if (!("Notification" in window)) return "impossible";
  if (Notification.permission === "denied") return "refused";
  return Notification.permission === "granted" && recall<boolean>("notify") === true ? "on" : "off";
}

async function toggle(): Promise<void> {
  const isOn = state() === "on";
  if (!isOn) await Notification.requestPermission();
  remember("notify", !isOn);
  for (const listener of listeners) listener();
}

/** One notification for all that came at once: many would only be clicked away. */
function notify(fresh: readonly Pending[]): void {
  if (state() !== "on" || document.visibilityState === "visible") return;
  const [first] = fresh;
  const what = first?.request.type === "approval_request" ? first.request.title : first?.request.prompt;
  const body = fresh.length === 1 ? visibleLine(what ?? "") : `${fresh.length} requests wait for you`;
  const note = new Notification("Belayer", { body, tag: "belayer-inbox", icon: "/favicon.svg" });
  note.onclick = () => window.focus();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
