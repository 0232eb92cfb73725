import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitPullRequest } from "lucide-react";
import { Button } from "@/parts/Button";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { StatusBadge } from "@/parts/StatusBadge";
import { visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import { sessionsQuery } from "@/wire/queries";

/** Every change of code, newest first. */
export default function ChangesPage() {
  const found = useInfiniteQuery(sessionsQuery({ workflow: "change", limit: 50 }));
  const sessions = found.data?.pages.flatMap((page) => page.sessions);
  return (
    <div className="mx-auto grid max-w-5xl gap-3 p-3 sm:p-5">
      <h1 className="text-lg font-semibold">Changes</h1>
      {found.isPending ? <Loading what="the changes" /> : null}
      {found.isError && !sessions ? <Failed error={found.error} retry={() => void found.refetch()} /> : null}
      {sessions?.length === 0 ? (
        <Empty icon={GitPullRequest} title="No changes yet">
          A session that changes a repository appears here.
        </Empty>
      ) : null}
      {sessions && sessions.length > 0 ? (
        <ul className="divide-y divide-line/60 overflow-hidden rounded-lg border bg-panel">
          {sessions.map((session) => (
            <li key={session.session_id}>
              <Link
                to={`/changes/${session.session_id}`}
                className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 -outline-offset-2 hover:bg-raised"
              >
                <span className="min-w-0 flex-1 truncate font-medium">{visibleLine(session.title)}</span>
                <span className="text-xs">
                  <When at={session.updated_at} />
                </span>
                <StatusBadge status={session.status} />
              </Link>
            </li>
          ))}
        </ul>
      ) : null}
      {found.hasNextPage ? (
        <Button
          className="justify-self-center"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? "Loading…" : "Older changes"}
        </Button>
      ) : null}
    </div>
  );
}
