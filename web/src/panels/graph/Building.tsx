import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { ProgressBar } from "@/panels/progress/ProgressBar";
import { Failed, Loading } from "@/parts/Faces";
import { StatusBadge } from "@/parts/StatusBadge";
import { visibleLine } from "@/parts/visible";
import type { Working } from "@/session/live";
import { useSession } from "@/session/useSession";
import { ProblemError } from "@/wire/problem";

type Props = { session: string; onDone: (repo: string) => void };

const STAGES: Record<string, string> = {
  discover: "Looking for source files",
  read: "Reading source files",
  link: "Linking names",
  store: "Writing the graph",
};

/** A graph on its way: how far it is, whether it waits for somebody, why it failed. */
export function Building({ session: id, onDone }: Props) {
  const { live, session } = useSession(id);
  const repo = live.face === "working" ? builtRepo(live) : null;
  useEffect(() => {
    if (repo !== null) onDone(repo);
  }, [repo, onDone]);
  if (live.face === "loading") return <Loading what="the build" />;
  if (live.face === "failed") return <Failed error={live.problem} retry={session.retry} />;
  const { state } = live;
  return (
    <section aria-label="Building" className="grid gap-2 rounded-lg border bg-panel p-3">
      <header className="flex min-w-0 flex-wrap items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate font-medium">{visibleLine(state.title)}</h2>
        <StatusBadge status={state.status} />
        <Link to={`/sessions/${id}`} className="text-xs text-accent underline">
          Open the session
        </Link>
      </header>
      {state.problem ? (
        <div className="-m-3">
          <Failed error={new ProblemError(state.problem)} />
        </div>
      ) : (
        <ProgressBar live={live} />
      )}
      <p aria-live="polite" className="text-xs text-muted">
        {stageOf(live)}
      </p>
      {state.pending.size > 0 ? (
        <p className="text-warn">
          It asks something first.{" "}
          <Link to={`/sessions/${id}`} className="underline">
            Answer it
          </Link>
          , and it goes on.
        </p>
      ) : null}
    </section>
  );
}

/** What is being done right now, with how much of it is. */
function stageOf({ state, passing }: Working): string {
  const told = state.status === "running" ? [...passing.steps.values()].at(-1) : undefined;
  if (told === undefined) return "";
  return `${STAGES[told.text ?? ""] ?? "Fetching the files"}… ${Math.round(told.percent)} %`;
}

function builtRepo({ state: { status, result } }: Working): string | null {
  if (status !== "completed" || typeof result !== "object" || result === null) return null;
  return "repo_id" in result && typeof result.repo_id === "string" ? result.repo_id : null;
}
