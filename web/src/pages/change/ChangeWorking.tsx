import { GitPullRequest } from "lucide-react";
import { type ReactNode, useId, useMemo, useState } from "react";
import { DiffViewer } from "@/panels/change/DiffViewer";
import { Outcome } from "@/panels/change/Outcome";
import { PlanCard } from "@/panels/change/PlanCard";
import { StageTracker } from "@/panels/change/StageTracker";
import { TestTable } from "@/panels/change/TestTable";
import { Composer } from "@/panels/controls/Composer";
import type { SessionPanelProps } from "@/panels/session";
import { Timeline } from "@/panels/timeline/Timeline";
import { Empty } from "@/parts/Faces";
import { changeOf } from "@/session/change";
import { Asked } from "../session/Asked";
import { SessionHeader } from "../session/SessionHeader";

const ENDED = new Set(["completed", "failed", "cancelled"]);

/** What was said beside what came of it; on a narrow screen, one of them at a time. */
export function ChangeWorking({ live, session }: SessionPanelProps) {
  const [isTalking, setTalking] = useState(false);
  const { story } = live;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a story grows in place; its ends say that it did
  const change = useMemo(() => changeOf(story.since(0)), [story, story.first, story.last]);
  const isOver = ENDED.has(live.state.status);
  const isPlanAsked = [...live.state.pending.values()].some((one) => one.type === "approval_request");
  const props = { live, session };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <SessionHeader {...props} />
      <StageTracker change={change} />
      <div className="flex gap-1 border-b bg-panel px-2 lg:hidden">
        {[false, true].map((talk) => (
          <button
            key={String(talk)}
            type="button"
            aria-pressed={isTalking === talk}
            onClick={() => setTalking(talk)}
            className={`min-h-9 border-b-2 px-2 text-xs -outline-offset-2 ${isTalking === talk ? "border-accent font-medium" : "border-transparent text-muted"}`}
          >
            {talk ? "Conversation" : "Change"}
          </button>
        ))}
      </div>
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] lg:grid-cols-[22rem_minmax(0,1fr)]">
        <section
          aria-label="Conversation"
          className={`flex min-h-0 min-w-0 flex-col lg:border-r ${isTalking ? "" : "max-lg:hidden"}`}
        >
          <div className="min-h-0 flex-1">
            <Timeline {...props} wanted={null} />
          </div>
          {isOver ? null : <Composer {...props} />}
        </section>
        <div className={`min-h-0 min-w-0 overflow-y-auto ${isTalking ? "max-lg:hidden" : ""}`}>
          <Asked {...props} request={null} />
          <div className="grid min-w-0 gap-4 p-3 sm:p-4">
            {change.summary ? (
              <Part title="Outcome">
                <Outcome summary={change.summary} />
              </Part>
            ) : null}
            {change.plan && !isPlanAsked ? (
              <Part title="Plan">
                <PlanCard plan={change.plan} />
              </Part>
            ) : null}
            {change.stages.has("editing") ? (
              <Part title="Files">
                <DiffViewer
                  changes={change.files}
                  onObject={isOver ? null : (text) => session.tell({ type: "message", data: { text } })}
                />
              </Part>
            ) : null}
            {change.stages.has("testing") ? (
              <Part title="Tests">
                <TestTable tests={change.tests} />
              </Part>
            ) : null}
            {change.stages.size === 0 ? (
              <Empty icon={GitPullRequest} title="Nothing to show yet">
                The plan, the files and the tests appear here as the change goes on.
              </Empty>
            ) : null}
          </div>
        </div>
      </div>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-lg border bg-panel p-3">
      <h2 id={id} className="mb-2 font-medium">
        {title}
      </h2>
      {children}
    </section>
  );
}
