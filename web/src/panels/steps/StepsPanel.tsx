import { ListChecks } from "lucide-react";
import { Empty } from "@/parts/Faces";
import { StatusBadge } from "@/parts/StatusBadge";
import { duration } from "@/parts/time";
import { visibleLine } from "@/parts/visible";
import { type SessionState, stepOf, stepsAhead } from "@/session/fold";
import type { Working } from "@/session/live";
import type { Passing } from "@/session/passing";
import type { Step, StepStatus } from "@/wire/types";
import type { SessionPanelProps } from "../session";

const MOST = 300;

type Shown = { key: string; title: string; status: StepStatus | "waiting"; tried: Step | undefined };

/** The plan with where each step stands; without a plan, the steps that were taken. */
export function StepsPanel({ live }: SessionPanelProps) {
  const { state } = live;
  const count = state.plan.length || state.steps.size;
  const steps = state.plan.length > 0 ? plannedSteps(live).slice(-MOST) : takenSteps(state);
  if (steps.length === 0) {
    return (
      <Empty icon={ListChecks} title="No steps yet">
        They appear here as the session takes them.
      </Empty>
    );
  }
  return (
    <>
      {steps.length < count ? (
        <p className="px-3 pt-2 text-xs text-muted">
          The last {MOST} of {count.toLocaleString()} steps. The timeline has them all.
        </p>
      ) : null}
      <ol className="divide-y divide-line/60">
        {steps.map(({ key, title, status, tried }) => (
          <li key={key} className="flex items-center gap-2 px-3 py-1.5">
            {tried ? (
              <a
                href={`#event-${tried.seq}`}
                className="min-w-0 flex-1 truncate hover:underline"
                title={visibleLine(key)}
              >
                {visibleLine(title)}
              </a>
            ) : (
              <span className="min-w-0 flex-1 truncate text-muted" title={visibleLine(key)}>
                {visibleLine(title)}
              </span>
            )}
            {tried?.seconds != null ? (
              <span className="font-mono text-xs text-muted">{duration(tried.seconds)}</span>
            ) : null}
            <StatusBadge status={status} />
          </li>
        ))}
      </ol>
    </>
  );
}

function plannedSteps({ state, passing }: Working): Shown[] {
  const begun = state.status === "running" ? heard(state, passing) : new Set();
  return stepsAhead(state).map((step) => ({
    ...step,
    status: step.status === "pending" && begun.has(step.key) ? "running" : inOneWord(step.status),
    tried: state.tries.get(step.key),
  }));
}

/** A step is only ever paused because it waits for a person, and that is what the session's own badge calls it. */
const inOneWord = (status: StepStatus) => (status === "paused" ? "waiting" : status);

/** The steps that have begun: one that only reads is on record once it has ended, but it speaks, or makes calls. */
function heard(state: SessionState, { writing, output, steps }: Passing): Set<string> {
  return new Set([...state.tries.keys(), ...writing.keys(), ...output.keys(), ...steps.keys()].map(stepOf));
}

function takenSteps(state: SessionState): Shown[] {
  const last = [...state.steps.values()].slice(-MOST);
  return last.map((step) => ({ key: step.key, title: step.key, status: step.status, tried: step }));
}
