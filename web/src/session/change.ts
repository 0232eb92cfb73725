/** What a change of code has come to: a fold over its log beside the session's own. Pure. */
import {
  type ChangePlan,
  type CodeChange,
  readCodeChange,
  readPlan,
  readStageTold,
  readSummary,
  readTestResult,
  STAGES,
  type Stage,
  type StageTold,
  type Summary,
  stageOf,
  type TestResult,
} from "@/wire/change";
import type { Envelope } from "@/wire/types";
import { stillCounting } from "./fold";

export type Change = {
  stages: ReadonlyMap<Stage, StageTold>;
  plan: ChangePlan | null;
  files: readonly CodeChange[];
  tests: readonly TestResult[];
  summary: Summary | null;
};

/** The events from the beginning on; what a rewind left behind does not count. */
export function changeOf(events: readonly Envelope[]): Change {
  const stages = new Map<Stage, StageTold>();
  const files = new Map<string, CodeChange>();
  const tests = new Map<string, TestResult>();
  let plan: ChangePlan | null = null;
  let summary: Summary | null = null;
  for (const event of stillCounting(events)) {
    const { type, data } = event as { type: string; data: unknown };
    const stage = stageOf(event.stage);
    if (stage) stages.set(stage, (type === "status" && readStageTold(data)) || stages.get(stage) || RUNNING);
    if (type === "approval_request" && stage === "planning")
      plan = readPlan((data as { shown?: unknown }).shown) ?? plan;
    if (type === "code_change") keep(files, readCodeChange(data), (one) => one.path);
    if (type === "test_result") keep(tests, readTestResult(data), (one) => one.name);
    if (type === "summary") summary = readSummary(data);
  }
  return { stages, plan, files: [...files.values()], tests: [...tests.values()], summary };
}

/** The stages in their order, each with where it stands. */
export function stagesOf({ stages }: Change): { stage: Stage; told: StageTold | null }[] {
  return STAGES.map((stage) => ({ stage, told: stages.get(stage) ?? null }));
}

/** An event of a change on one line; null for any other. */
export function changeInWords(type: string, data: unknown): string | null {
  const file = type === "code_change" ? readCodeChange(data) : null;
  if (file) return `Changed ${file.path}`;
  const test = type === "test_result" ? readTestResult(data) : null;
  return test ? `${test.name} ${test.status}` : null;
}

const RUNNING: StageTold = { status: "running", text: "" };

function keep<Value>(map: Map<string, Value>, value: Value | null, name: (value: Value) => string): void {
  if (value !== null) map.set(name(value), value);
}
