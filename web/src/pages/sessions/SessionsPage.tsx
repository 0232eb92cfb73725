import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Rows3 } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { Button } from "@/parts/Button";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { INPUT } from "@/parts/Field";
import { StatusBadge } from "@/parts/StatusBadge";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import { LIVE, sessionsQuery } from "@/wire/queries";
import type { Mode, SessionListed, Status } from "@/wire/types";

const FILTERS: readonly { word: string; status: readonly Status[] }[] = [
  { word: "All", status: [] },
  { word: "Live", status: LIVE },
  { word: "Waiting", status: ["waiting"] },
  { word: "Running", status: ["running", "queued"] },
  { word: "Stopped", status: ["paused", "interrupted", "expired"] },
  { word: "Completed", status: ["completed"] },
  { word: "Failed", status: ["failed", "cancelled"] },
];
const PAGE = 50;

/** Every session, newest first. */
export default function SessionsPage() {
  const [filter, setFilter] = useState(0);
  const [mode, setMode] = useState<Mode | "">("");
  const [text, setText] = useState("");
  const q = useDeferredValue(text.trim());
  const found = useInfiniteQuery(
    sessionsQuery({
      status: FILTERS[filter]?.status,
      mode: mode || undefined,
      q: q || undefined,
      limit: PAGE,
    }),
  );
  const sessions = found.data?.pages.flatMap((page) => page.sessions);
  const isFiltered = filter !== 0 || mode !== "" || q !== "";
  return (
    <div className="mx-auto grid max-w-5xl gap-3 p-3 sm:p-5">
      <h1 className="text-lg font-semibold">Sessions</h1>
      <search className="flex flex-wrap gap-2">
        <input
          type="search"
          aria-label="Search in titles"
          placeholder="Search in titles…"
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
          className={`${INPUT} sm:max-w-72`}
        />
        <select
          aria-label="Status"
          value={filter}
          onChange={(event) => setFilter(Number(event.target.value))}
          className={`${INPUT} w-auto!`}
        >
          {FILTERS.map(({ word }, index) => (
            <option key={word} value={index}>
              {word}
            </option>
          ))}
        </select>
        <select
          aria-label="Mode"
          value={mode}
          onChange={(event) => setMode(event.target.value as Mode | "")}
          className={`${INPUT} w-auto!`}
        >
          <option value="">Any mode</option>
          <option value="hitl">With a person</option>
          <option value="autonomous">Autonomous</option>
        </select>
      </search>
      {found.isPending ? <Loading what="the sessions" /> : null}
      {found.isError && !sessions ? <Failed error={found.error} retry={() => void found.refetch()} /> : null}
      {sessions?.length === 0 ? <Nothing isFiltered={isFiltered} /> : null}
      {sessions && sessions.length > 0 ? <List sessions={sessions} /> : null}
      {found.hasNextPage ? (
        <Button
          className="justify-self-center"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? "Loading…" : "Older sessions"}
        </Button>
      ) : null}
    </div>
  );
}

function List({ sessions }: { sessions: readonly SessionListed[] }) {
  return (
    <ul className="divide-y divide-line/60 overflow-hidden rounded-lg border bg-panel">
      {sessions.map((session) => (
        <li key={session.session_id}>
          <Link
            to={`/sessions/${session.session_id}`}
            className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 -outline-offset-2 hover:bg-raised"
          >
            <span className="w-full min-w-0 truncate font-medium sm:w-auto sm:flex-1">
              {visibleLine(session.title)}
            </span>
            <code className="font-mono text-xs text-muted">{visibleLine(session.workflow)}</code>
            {session.mode === "autonomous" ? <Tag>autonomous</Tag> : null}
            <span className="font-mono text-xs text-muted max-sm:hidden">
              {session.seq.toLocaleString()} events
            </span>
            <span className="ml-auto w-20 text-right text-xs sm:ml-0">
              <When at={session.updated_at} />
            </span>
            <span className="flex justify-end sm:w-28">
              <StatusBadge status={session.status} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Empty icon={Rows3} title="No session fits">
      Change the search or the filters.
    </Empty>
  ) : (
    <Empty icon={Rows3} title="No sessions yet">
      Start one here with n, or in a terminal with <code className="font-mono">belayer run</code>.
    </Empty>
  );
}
