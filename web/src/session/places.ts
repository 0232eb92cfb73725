/** The places a session can go back to: every step that ended, and every place with a name, but not where it is. Pure. */
import type { CheckpointListed } from "@/wire/types";
import type { SessionState } from "./fold";

export function placesOf(state: SessionState): CheckpointListed[] {
  const steps = [...state.steps.values()]
    .filter((step) => step.status === "completed" && step.seconds !== null)
    .map((step): CheckpointListed => ({ seq: step.seq, name: step.key, kind: "step" }));
  const named = [...state.checkpoints].map(([seq, name]): CheckpointListed => ({ seq, name, kind: "named" }));
  const places = [...steps, ...named].filter((place) => place.seq < state.seq);
  return places.sort((one, other) => one.seq - other.seq);
}
