import { toast } from "sonner";
import type { ProblemError } from "@/wire/problem";
import { visible } from "./visible";

/** Tell of something that a click could not do. */
export function showProblem(problem: ProblemError): void {
  toast.error(visible(problem.detail), {
    description: problem.hint ? visible(problem.hint) : undefined,
    duration: 10_000,
  });
}
