import { Link } from "@tanstack/react-router";
import { CodeBlock } from "@/parts/CodeBlock";
import { CopyButton } from "@/parts/CopyButton";
import { visibleLine } from "@/parts/visible";
import { exportPath } from "@/wire/client";
import type { SessionPanelProps } from "../session";

/** What the session was started with and what came of it. */
export function FactsPanel({ live }: SessionPanelProps) {
  const { state } = live;
  return (
    <div className="grid gap-3 p-3">
      {state.result !== null ? <CodeBlock value={state.result} label="Result" /> : null}
      {state.input !== null ? <CodeBlock value={state.input} label="Input" /> : null}
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-3 gap-y-1 text-xs">
        <dt className="text-muted">Session</dt>
        <dd className="flex min-w-0 items-center gap-1 font-mono break-all">
          {state.id}
          <CopyButton text={state.id} what="session id" />
        </dd>
        {state.workspace ? (
          <>
            <dt className="text-muted">Workspace</dt>
            <dd className="font-mono break-all">{visibleLine(state.workspace)}</dd>
          </>
        ) : null}
        {state.sandbox ? (
          <>
            <dt className="text-muted">Sandbox</dt>
            <dd>{state.sandbox}</dd>
          </>
        ) : null}
        {state.forkedFrom ? (
          <>
            <dt className="text-muted">Forked from</dt>
            <dd className="font-mono break-all">
              <Link
                className="underline"
                to={`/sessions/${state.forkedFrom.session_id}`}
                hash={`event-${state.forkedFrom.seq}`}
              >
                {state.forkedFrom.session_id} after event {state.forkedFrom.seq}
              </Link>
            </dd>
          </>
        ) : null}
      </dl>
      <a href={exportPath(state.id)} download className="justify-self-start text-sm text-accent underline">
        Download the session as a file
      </a>
    </div>
  );
}
