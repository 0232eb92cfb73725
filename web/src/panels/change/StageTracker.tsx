import { CircleCheck, CircleDashed, CircleDot, CircleX, type LucideIcon, SkipForward } from "lucide-react";
import { visibleLine } from "@/parts/visible";
import { type Change, stagesOf } from "@/session/change";
import type { StageStatus } from "@/wire/change";
import { STAGE_WORDS } from "./words";

const SHAPES: Record<StageStatus, { icon: LucideIcon; look: string; word: string }> = {
  running: { icon: CircleDot, look: "border-live text-live", word: "going on" },
  completed: { icon: CircleCheck, look: "border-ok text-ok", word: "done" },
  failed: { icon: CircleX, look: "border-bad text-bad", word: "failed" },
  skipped: { icon: SkipForward, look: "border-line text-muted", word: "left out" },
};
const TO_COME = { icon: CircleDashed, look: "border-line text-muted", word: "to come" };

/** How far the change is, stage by stage. */
export function StageTracker({ change }: { change: Change }) {
  const stages = stagesOf(change);
  const current = stages.findLast(({ told }) => told !== null);
  return (
    <div className="border-b bg-panel px-3 py-2 sm:px-4">
      <ol aria-label="Stages" className="grid grid-cols-4 gap-1 lg:grid-cols-8">
        {stages.map(({ stage, told }) => {
          const { icon: Icon, look, word } = told ? SHAPES[told.status] : TO_COME;
          return (
            <li
              key={stage}
              aria-current={stage === current?.stage ? "step" : undefined}
              className={`flex min-w-0 items-center gap-1 border-t-2 pt-1 text-xs ${look}`}
            >
              <Icon aria-hidden="true" className="size-3.5 shrink-0" />
              <span className="truncate">{STAGE_WORDS[stage]}</span>
              <span className="sr-only">: {word}</span>
            </li>
          );
        })}
      </ol>
      <p aria-live="polite" className="mt-1 min-h-5 truncate text-xs text-muted">
        {visibleLine(current?.told?.text ?? "")}
      </p>
    </div>
  );
}
