import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Failed } from "@/parts/Faces";
import { StatusBadge } from "@/parts/StatusBadge";
import { visible, visibleLine } from "@/parts/visible";
import { asProblem, ProblemError } from "@/wire/problem";
import { liveSessionsQuery } from "@/wire/queries";
import { UnfitDraft } from "./plan";

/** Why it was not started: each problem with its place; at the limit, which sessions there are. */
export function Refusal({ error, onClose }: { error: Error; onClose: () => void }) {
  const problem =
    error instanceof UnfitDraft
      ? new ProblemError({ detail: `${error.place}: ${error.message}`, status: 422 })
      : asProblem(error);
  if (problem.status === 429) return <AtTheLimit problem={problem} onClose={onClose} />;
  if (problem.places.length === 0) return <Failed error={problem} />;
  return (
    <div role="alert" className="rounded-md border border-bad bg-bad-soft p-3">
      <p className="font-medium text-bad">
        {problem.places.length === 1 ? "One thing has" : `${problem.places.length} things have`} to be
        corrected first:
      </p>
      <ul className="mt-1 grid gap-1">
        {problem.places.map(({ place, what }) => (
          <li key={`${place} ${what}`} className="break-words">
            <code className="font-mono text-xs">{visibleLine(place)}</code>: {visible(what)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function AtTheLimit({ problem, onClose }: { problem: ProblemError; onClose: () => void }) {
  const live = useQuery(liveSessionsQuery);
  return (
    <div role="alert" className="grid gap-2 rounded-md border border-warn bg-warn-soft p-3">
      <p className="font-medium text-warn">
        As many sessions are live as may be. Nothing is lost; yours is not started yet.
      </p>
      <p>
        {visible(problem.hint ?? problem.detail)}
        {problem.retryAfter === null ? "" : ` Try again in about ${problem.retryAfter} s.`}
      </p>
      <ul className="grid gap-1">
        {(live.data?.sessions ?? []).map((session) => (
          <li key={session.session_id} className="flex min-w-0 items-center gap-2">
            <StatusBadge status={session.status} />
            <Link
              to={`/sessions/${session.session_id}`}
              onClick={onClose}
              className="min-w-0 truncate text-accent underline"
            >
              {visibleLine(session.title)}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
