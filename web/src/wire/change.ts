/**
 * WRITTEN BY HAND from PROTOCOL.md: the events of a change of code, which the API's schema does not have yet.
 * Once it has them, this file goes. Until then nothing here is relied on: what cannot be read is null.
 */

export const STAGES = [
  "intent_extraction",
  "pkg_query",
  "impact_analysis",
  "planning",
  "editing",
  "testing",
  "verification",
  "pr_creation",
] as const;
export type Stage = (typeof STAGES)[number];
export type StageStatus = "running" | "completed" | "failed" | "skipped";

/** `status`: where the envelope's stage stands. */
export type StageTold = { status: StageStatus; text: string };
/** `code_change`: one file, as a unified diff. */
export type CodeChange = { path: string; diff: string };
/** `test_result`: one test; the last result of a name counts. */
export type TestResult = { name: string; status: TestStatus; seconds: number | null; text: string };
export type TestStatus = "passed" | "failed" | "skipped";
/** `summary`: how it ended. */
export type Summary = {
  text: string;
  verdict: "passed" | "failed" | null;
  criteria: readonly Criterion[];
  branch: string | null;
  link: string | null;
};
export type Criterion = { text: string; isMet: boolean; why: string };
/** What an approval of the stage `planning` shows. */
export type ChangePlan = { text: string; tasks: readonly Task[]; impact: Impact | null };
export type Task = {
  title: string;
  files: readonly string[];
  changes: readonly string[];
  tests: readonly string[];
  notes: string;
};
/** What the change reaches: `distance` 0 is changed itself, 1 uses that, and so on. */
export type Impact = {
  risk: string;
  modules: readonly Module[];
  edges: readonly (readonly [from: string, to: string])[];
};
export type Module = { name: string; distance: number; isTest: boolean };

export const stageOf = (stage: unknown): Stage | null => STAGES.find((one) => one === stage) ?? null;

export function readStageTold(data: unknown): StageTold | null {
  const { status, text } = object(data);
  const known = (["running", "completed", "failed", "skipped"] as const).find((one) => one === status);
  return known ? { status: known, text: string(text) } : null;
}

export function readCodeChange(data: unknown): CodeChange | null {
  const { path, diff } = object(data);
  return typeof path === "string" && typeof diff === "string" ? { path, diff } : null;
}

export function readTestResult(data: unknown): TestResult | null {
  const { name, status, seconds, text } = object(data);
  const known = (["passed", "failed", "skipped"] as const).find((one) => one === status);
  if (typeof name !== "string" || known === undefined) return null;
  return { name, status: known, seconds: typeof seconds === "number" ? seconds : null, text: string(text) };
}

export function readSummary(data: unknown): Summary {
  const { text, verdict, criteria, branch, pull_request } = object(data);
  return {
    text: string(text),
    verdict: verdict === "passed" || verdict === "failed" ? verdict : null,
    criteria: list(criteria)
      .map(object)
      .map((one) => ({ text: string(one.text), isMet: one.met === true, why: string(one.why) })),
    branch: typeof branch === "string" ? branch : null,
    link: webAddress(object(pull_request).url ?? pull_request),
  };
}

export function readPlan(shown: unknown): ChangePlan | null {
  const { text, tasks, impact } = object(shown);
  if (!Array.isArray(tasks)) return null;
  return { text: string(text), tasks: tasks.map(object).map(readTask), impact: readImpact(impact) };
}

function readTask({ title, files, changes, tests, notes }: Record<string, unknown>): Task {
  return {
    title: string(title),
    files: strings(files),
    changes: strings(changes),
    tests: strings(tests),
    notes: string(notes),
  };
}

function readImpact(value: unknown): Impact | null {
  const { risk, modules, edges } = object(value);
  if (!Array.isArray(modules)) return null;
  const read = modules.map(object).map((one) => ({
    name: string(one.name),
    distance: typeof one.distance === "number" ? one.distance : 0,
    isTest: one.test === true,
  }));
  const names = new Set(read.map((module) => module.name));
  const pairs = list(edges).map((edge) => strings(edge));
  return {
    risk: string(risk),
    modules: [...new Map(read.map((module) => [module.name, module])).values()],
    edges: pairs.flatMap(([from = "", to = ""]) =>
      names.has(from) && names.has(to) ? [[from, to] as const] : [],
    ),
  };
}

/** Only an address that a browser may be led to. */
function webAddress(value: unknown): string | null {
  if (typeof value !== "string" || !URL.canParse(value)) return null;
  return /^https?:$/.test(new URL(value).protocol) ? value : null;
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const string = (value: unknown) => (typeof value === "string" ? value : "");
const strings = (value: unknown) => list(value).filter((one) => typeof one === "string");
