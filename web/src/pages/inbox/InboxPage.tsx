import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Bell, BellOff, Inbox } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useNotifying } from "@/panels/attention/attention";
import { Button } from "@/parts/Button";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { useKeys } from "@/parts/keys";
import { inboxQuery } from "@/wire/queries";
import type { Pending } from "@/wire/types";
import { InboxItem } from "./InboxItem";

/** Everything that waits for a person, across all sessions, the oldest first. */
export default function InboxPage() {
  const inbox = useQuery(inboxQuery);
  return (
    <div className="mx-auto grid max-w-4xl gap-3 p-3 sm:p-5">
      <header className="flex items-center justify-between gap-2">
        <h1 className="text-lg font-semibold">Inbox</h1>
        <Notifications />
      </header>
      {inbox.isPending ? <Loading what="the inbox" /> : null}
      {inbox.isError && !inbox.data ? (
        <Failed error={inbox.error} retry={() => void inbox.refetch()} />
      ) : null}
      {inbox.data ? <Requests requests={inbox.data} /> : null}
    </div>
  );
}

function Requests({ requests }: { requests: readonly Pending[] }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const index = useStaying(requests, chosen);
  const list = useRef<HTMLUListElement>(null);
  const navigate = useNavigate();
  const move = (by: number) => {
    const next = Math.min(requests.length - 1, Math.max(0, index + by));
    setChosen(requests[next]?.request.request_id ?? null);
    list.current?.querySelectorAll<HTMLElement>("[data-head]")[next]?.focus();
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const at = requests[index];
      if (at) void navigate({ to: `/sessions/${at.session_id}`, search: { request: at.request.request_id } });
    },
  });
  if (requests.length === 0) {
    return (
      <Empty icon={Inbox} title="Nothing waits for you">
        Questions and approvals of all sessions appear here the moment they are asked.
      </Empty>
    );
  }
  return (
    <ul ref={list} className="grid gap-2">
      {requests.map((pending, place) => (
        <InboxItem
          key={pending.request.request_id}
          pending={pending}
          isChosen={place === index}
          onChoose={() => setChosen(pending.request.request_id)}
        />
      ))}
    </ul>
  );
}

/** Where the chosen one is; once it is gone, the one that took its place. */
function useStaying(requests: readonly Pending[], chosen: string | null): number {
  const last = useRef(0);
  const found = requests.findIndex((one) => one.request.request_id === chosen);
  const index = found >= 0 ? found : Math.min(last.current, Math.max(0, requests.length - 1));
  useEffect(() => {
    last.current = index;
  }, [index]);
  return index;
}

function Notifications() {
  const [notifying, toggle] = useNotifying();
  if (notifying === "impossible") return null;
  const Icon = notifying === "on" ? Bell : BellOff;
  const words = { on: "Notifying", off: "Notify me", refused: "Notifications are blocked in this browser" };
  return (
    <Button
      look="quiet"
      onClick={toggle}
      disabled={notifying === "refused"}
      aria-pressed={notifying === "on"}
    >
      <Icon aria-hidden="true" className="size-4" />
      {words[notifying]}
    </Button>
  );
}
