/** The panels beside a session's timeline, in their order. A new one is a folder and a line here. */
import { type ComponentType, lazy } from "react";
import { BudgetPanel } from "./budget/BudgetPanel";
import { FactsPanel } from "./facts/FactsPanel";
import type { SessionPanelProps } from "./session";
import { StepsPanel } from "./steps/StepsPanel";

export type SessionPanel = { id: string; title: string; Panel: ComponentType<SessionPanelProps> };

export const SESSION_PANELS: readonly SessionPanel[] = [
  { id: "steps", title: "Steps", Panel: StepsPanel },
  { id: "budget", title: "Budget", Panel: BudgetPanel },
  { id: "checkpoints", title: "Checkpoints", Panel: lazy(() => import("./checkpoints/CheckpointsPanel")) },
  { id: "artifacts", title: "Made", Panel: lazy(() => import("./artifacts/ArtifactsPanel")) },
  { id: "facts", title: "Details", Panel: FactsPanel },
];
