import { useEffect, useRef } from "react";
import { RequestCard } from "@/panels/requests/RequestCard";
import type { SessionPanelProps } from "@/panels/session";
import { showProblem } from "@/parts/showProblem";
import { visibleLine } from "@/parts/visible";
import { type SessionState, stepOf } from "@/session/fold";
import { callOf } from "@/session/script";
import { asProblem } from "@/wire/problem";
import type { Command, PersonRequest } from "@/wire/types";

type Props = SessionPanelProps & { request: string | null; className?: string };

/** What the session asks now, where one watches it. Keys are for the first one, or the one that a link named. */
export function Asked({ live, session, request, className = "" }: Props) {
  const linked = useRef<HTMLLIElement>(null);
  const pending = [...live.state.pending.values()].filter((one) => !live.settled.has(one.request_id));
  const withKeys = pending.find((one) => one.request_id === request) ?? pending[0];
  const decide = (command: Command) =>
    session.tell(command).catch((error: unknown) => showProblem(asProblem(error)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: a link leads there once, not at every change
  useEffect(() => {
    linked.current?.scrollIntoView({ block: "nearest" });
    linked.current?.focus();
  }, [request]);
  if (pending.length === 0) return null;
  return (
    <ul aria-label="What it asks" className={`grid shrink-0 gap-2 border-b bg-ground px-2 pt-2 ${className}`}>
      {pending.map((one) => (
        <li
          key={one.request_id}
          ref={one.request_id === request ? linked : undefined}
          tabIndex={-1}
          className={`min-w-0 rounded-lg border bg-panel p-3 last:mb-2 ${one === withKeys ? "border-accent" : ""}`}
        >
          <ByScript request={one} state={live.state} />
          <RequestCard sessionId={live.state.id} request={one} decide={decide} hasKeys={one === withKeys} />
        </li>
      ))}
    </ul>
  );
}

/** Which call of which script asks, where a script does. */
function ByScript({ request, state }: { request: PersonRequest; state: SessionState }) {
  const call = callOf(request.key);
  if (call === null) return null;
  const title = state.plan.find((step) => step.key === stepOf(call.step))?.title ?? call.step;
  return (
    <p className="mb-1 text-xs text-muted">
      Call {call.number} of the script of “{visibleLine(title)}”
    </p>
  );
}
