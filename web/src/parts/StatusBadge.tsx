import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CirclePause,
  CircleX,
  Hand,
  Hourglass,
  type LucideIcon,
  OctagonPause,
  SkipForward,
} from "lucide-react";
import type { Status, StepStatus } from "@/wire/types";

type Tone = "ok" | "bad" | "warn" | "live" | "quiet";

const SHAPES: Record<Status | StepStatus, { icon: LucideIcon; tone: Tone; word: string }> = {
  queued: { icon: CircleDashed, tone: "quiet", word: "queued" },
  pending: { icon: CircleDashed, tone: "quiet", word: "to come" },
  running: { icon: CircleDot, tone: "live", word: "running" },
  waiting: { icon: Hand, tone: "warn", word: "waiting" },
  paused: { icon: CirclePause, tone: "warn", word: "paused" },
  interrupted: { icon: OctagonPause, tone: "warn", word: "interrupted" },
  completed: { icon: CircleCheck, tone: "ok", word: "completed" },
  failed: { icon: CircleX, tone: "bad", word: "failed" },
  cancelled: { icon: Ban, tone: "quiet", word: "cancelled" },
  expired: { icon: Hourglass, tone: "quiet", word: "expired" },
  skipped: { icon: SkipForward, tone: "quiet", word: "skipped" },
};

const TONES: Record<Tone, string> = {
  ok: "bg-ok-soft text-ok",
  bad: "bg-bad-soft text-bad",
  warn: "bg-warn-soft text-warn",
  live: "bg-live-soft text-live",
  quiet: "bg-raised text-muted",
};

/** Where a session or a step stands, in a word, a shape and a colour. */
export function StatusBadge({ status }: { status: Status | StepStatus }) {
  const { icon: Icon, tone, word } = SHAPES[status] ?? { icon: CircleDashed, tone: "quiet", word: status };
  return (
    <span
      className={`inline-flex items-center gap-1 whitespace-nowrap rounded-full px-2 py-0.5 text-xs font-medium ${TONES[tone]}`}
    >
      <Icon aria-hidden="true" className="size-3.5" />
      {word}
    </span>
  );
}
