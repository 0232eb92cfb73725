/** A session as the server shows it, folded from its log. */
import { fold, progressOf, stepsAhead } from "@/session/fold";
import type { Envelope, SessionView } from "@/wire/types";
import { SESSION } from "./events";

export function viewOf(log: readonly Envelope[]): SessionView {
  const state = fold(SESSION, log);
  return {
    session_id: state.id,
    status: state.status,
    reason: state.reason,
    title: state.title,
    workflow: state.workflow,
    mode: state.mode,
    input: state.input,
    created_at: state.createdAt,
    updated_at: state.updatedAt,
    wake_at: state.wakeAt,
    seq: state.seq,
    workspace: state.workspace,
    plan: stepsAhead(state),
    progress: progressOf(state),
    steps: [...state.steps.values()],
    pending: [...state.pending.values()],
    checkpoints: [...state.checkpoints].map(([seq, name]) => ({ seq, name })),
    artifacts: [...state.artifacts.values()],
    sandbox: state.sandbox,
    forked_from: state.forkedFrom,
    budget: state.budget,
    usage: state.usage,
    result: state.result,
    error: state.problem,
  } as SessionView;
}
