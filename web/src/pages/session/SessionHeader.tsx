import { Controls } from "@/panels/controls/Controls";
import { ProgressBar } from "@/panels/progress/ProgressBar";
import type { SessionPanelProps } from "@/panels/session";
import { CopyButton } from "@/parts/CopyButton";
import { StatusBadge } from "@/parts/StatusBadge";
import { Tag } from "@/parts/Tag";
import { visible, visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import { type SessionState, stepOf } from "@/session/fold";
import { SandboxTag } from "./SandboxTag";

/** What it is, where it stands, and what one can do about it. */
export function SessionHeader({ live, session }: SessionPanelProps) {
  const { state, intended } = live;
  return (
    <header className="grid gap-2 border-b bg-panel px-3 py-2 sm:px-4">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="min-w-0 text-base font-semibold break-words">{visibleLine(state.title)}</h1>
        <span aria-live="polite" className="flex items-center gap-2">
          <StatusBadge status={intended ?? state.status} />
        </span>
        <span className="flex flex-wrap items-center gap-2 text-xs text-muted">
          <Tag>{state.mode === "hitl" ? "with a person" : "autonomous"}</Tag>
          <SandboxTag rung={state.sandbox} />
          <code className="font-mono max-sm:hidden">{visibleLine(state.workflow)}</code>
          <span className="inline-flex items-center max-sm:hidden">
            <code className="font-mono">{state.id.slice(0, 13)}</code>
            <CopyButton text={state.id} what="session id" />
          </span>
          {state.createdAt ? <When at={state.createdAt} /> : null}
        </span>
        <span className="ml-auto">
          <Controls live={live} session={session} />
        </span>
      </div>
      {state.problem ? (
        <div role="alert" className="rounded-md bg-bad-soft p-2 text-bad">
          <p className="break-words">{visible(state.problem.detail)}</p>
          {state.problem.hint ? <p className="break-words text-ink">{visible(state.problem.hint)}</p> : null}
        </div>
      ) : state.reason ? (
        <p className="text-xs break-words text-muted">
          {state.status === "waiting" && state.pending.size > 0 ? waitsFor(state) : visible(state.reason)}
          {state.wakeAt ? (
            <>
              {" "}
              (goes on <When at={state.wakeAt} />)
            </>
          ) : null}
        </p>
      ) : null}
      <ProgressBar live={live} />
    </header>
  );
}

/** The steps that wait for somebody, by the names that a person gave them. */
function waitsFor({ pending, plan }: SessionState): string {
  const titles = [...pending.values()].map(({ key }) => {
    const step = stepOf(key);
    return visibleLine(plan.find((planned) => planned.key === step)?.title ?? step);
  });
  const what = pending.size === 1 ? "an answer" : `${pending.size} answers`;
  return `Waits for ${what}: ${[...new Set(titles)].join(", ")}`;
}
