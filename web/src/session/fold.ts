/** What a session is now: a fold over its log, the same as sessions/state.py. Pure; knows every event there is. */
import type {
  Artifact,
  Budget,
  Envelope,
  EnvelopeOf,
  Mode,
  PersonRequest,
  PlannedStep,
  Problem,
  SessionView,
  Status,
  Step,
  StepAhead,
  Usage,
} from "@/wire/types";

type SessionData = EnvelopeOf<"session">["data"];
type StepData = EnvelopeOf<"step">["data"];
type Response = EnvelopeOf<"user_response">["data"];

export type SessionState = {
  id: string;
  seq: number;
  status: Status;
  reason: string | null;
  workflow: string;
  title: string;
  mode: Mode;
  input: unknown;
  budget: Budget;
  usage: Required<Usage>;
  epoch: number;
  wakeAt: string | null;
  afterPause: NonNullable<SessionData["after_pause"]> | null;
  idempotencyKey: string | null;
  workspace: string | null;
  sandbox: string | null;
  forkedFrom: NonNullable<SessionData["forked_from"]> | null;
  createdAt: string | null;
  updatedAt: string | null;
  plan: readonly PlannedStep[];
  steps: Map<string, Step>;
  tries: Map<string, Step>;
  pending: Map<string, PersonRequest>;
  answered: Map<string, Response>;
  checkpoints: Map<number, string>;
  artifacts: Map<string, Artifact>;
  result: unknown;
  problem: Problem | null;
};

/** The state after the given events, which must be a log from its beginning. */
export function fold(id: string, events: readonly Envelope[]): SessionState {
  const state = nothing(id);
  const kept = stillCounting(events);
  for (const event of kept) apply(state, event);
  if (kept.length < events.length) countDropped(state, events, new Set(kept.map((event) => event.seq)));
  return state;
}

/**
 * Take further events into account, none of which may be a rewind: those need a fold of the whole log.
 * The maps grow in place, for there may be fifty thousand steps in them: use only the answer from then on.
 */
export function advanced(state: SessionState, events: readonly Envelope[]): SessionState {
  const next = { ...state };
  for (const event of events) apply(next, event);
  return next;
}

export function isRewind(event: Envelope): boolean {
  return event.type === "session" && event.data.rewound_to != null;
}

/** The events that still count: what a rewind left behind is in the log and in nothing else. */
export function stillCounting(events: readonly Envelope[]): Envelope[] {
  const kept: Envelope[] = [];
  for (const event of events) {
    const target = event.type === "session" ? event.data.rewound_to : null;
    while (target != null && (kept.at(-1)?.seq ?? 0) > target) kept.pop();
    kept.push(event);
  }
  return kept;
}

/** The state that a server's view tells of; what only the log knows (epoch, earlier answers) is left empty. */
export function fromView(view: SessionView): SessionState {
  const state: SessionState = {
    ...nothing(view.session_id),
    seq: view.seq,
    status: view.status,
    reason: view.reason,
    workflow: view.workflow,
    title: view.title,
    mode: view.mode,
    input: view.input,
    budget: view.budget,
    usage: { ...NOTHING_USED, ...view.usage },
    wakeAt: view.wake_at,
    workspace: view.workspace,
    sandbox: view.sandbox,
    forkedFrom: view.forked_from,
    createdAt: view.created_at,
    updatedAt: view.updated_at,
    plan: view.plan,
    result: view.result,
    problem: view.error,
  };
  for (const step of view.steps) state.steps.set(step.key, step);
  for (const step of [...view.steps].sort((a, b) => a.seq - b.seq)) state.tries.set(tryOf(step.key), step);
  for (const request of view.pending as PersonRequest[]) state.pending.set(request.request_id, request);
  for (const place of view.checkpoints) state.checkpoints.set(place.seq, place.name);
  for (const made of view.artifacts) state.artifacts.set(made.name, made);
  return state;
}

/** The plan, each step with where it stands: its last try counts, and one that waits for a person is paused. */
export function stepsAhead(state: SessionState): StepAhead[] {
  const waiting = new Set([...state.pending.values()].map((request) => stepOf(request.key)));
  return state.plan.map((step) => ({
    ...step,
    status: waiting.has(step.key) ? "paused" : (state.tries.get(step.key)?.status ?? "pending"),
  }));
}

/** How far the announced plan is, or null when the workflow announced none. */
export function progressOf(state: SessionState): { percent: number; step: number; of: number } | null {
  const of = state.plan.length;
  if (of === 0) return null;
  const done = state.plan.filter((step) => isDone(step, state.tries.get(step.key))).length;
  return { percent: tenths((100 * done) / of), step: done, of };
}

/** The planned step that a key belongs to: fetch, for fetch#2, fetch/question and #gate/fetch#2/1. */
export function stepOf(key: string): string {
  const parts = key.split("/");
  return tryOf((key.startsWith("#") && parts.length > 1 ? parts[1] : parts[0]) ?? "");
}

const NOTHING_USED: Required<Usage> = { tokens: 0, usd: 0, steps: 0, seconds: 0 };

function nothing(id: string): SessionState {
  return {
    id,
    seq: 0,
    status: "queued",
    reason: null,
    workflow: "",
    title: "",
    mode: "hitl",
    input: null,
    budget: {},
    usage: NOTHING_USED,
    epoch: 0,
    wakeAt: null,
    afterPause: null,
    idempotencyKey: null,
    workspace: null,
    sandbox: null,
    forkedFrom: null,
    createdAt: null,
    updatedAt: null,
    plan: [],
    steps: new Map(),
    tries: new Map(),
    pending: new Map(),
    answered: new Map(),
    checkpoints: new Map(),
    artifacts: new Map(),
    result: null,
    problem: null,
  };
}

/** A rewind takes back what was decided; not what was spent, who has driven, or that it is a copy. */
function countDropped(state: SessionState, events: readonly Envelope[], kept: ReadonlySet<number>): void {
  for (const event of events) {
    if (event.type === "session") {
      state.epoch = Math.max(state.epoch, event.data.epoch ?? 0);
      if (event.data.forked_from) becomeFork(state, event);
    } else if (event.type === "rehomed") {
      state.workspace = event.data.workspace ?? null;
    } else if (event.type === "step" && !kept.has(event.seq)) {
      state.usage = plus(state.usage, spent(event.data));
    }
  }
}

function apply(state: SessionState, event: Envelope): void {
  applyData(state, event);
  state.seq = event.seq;
  state.updatedAt = moment(event.timestamp);
}

function applyData(state: SessionState, event: Envelope): void {
  switch (event.type) {
    case "session":
      change(state, event);
      break;
    case "step":
      changeStep(state, event);
      break;
    case "request_input":
      state.pending.set(event.data.request_id, { ...event.data, type: event.type });
      break;
    case "approval_request":
      if (event.data.replaces) state.pending.delete(event.data.replaces);
      state.pending.set(event.data.request_id, { ...event.data, type: event.type });
      break;
    case "user_response":
      state.pending.delete(event.data.request_id);
      state.answered.set(event.data.request_id, event.data);
      break;
    case "plan":
      state.plan = event.data.steps;
      break;
    case "checkpoint":
      state.checkpoints.set(event.seq, event.data.name);
      break;
    case "artifact":
      state.artifacts.set(event.data.name, artifact(event.data));
      break;
    case "error":
      state.problem = event.data.problem;
      break;
    case "retry":
      retry(state, event.data.key, event.data.attempt);
      break;
    case "rehomed":
      state.workspace = event.data.workspace ?? null;
      break;
    case "interrupt":
    case "resume":
    case "log":
    case "budget":
    case "breaker":
    case "in_doubt":
    case "limit":
    case "restored":
    case "message":
      break;
    default:
      // A newer server may send what this page does not know: it counts, and changes nothing.
      event satisfies never;
  }
}

function artifact(data: EnvelopeOf<"artifact">["data"]): Artifact {
  return {
    name: data.name,
    media_type: data.media_type,
    bytes: data.aside?.content?.bytes ?? 0,
    key: data.key,
  };
}

function change(state: SessionState, event: EnvelopeOf<"session">): void {
  const data = event.data;
  state.status = data.status;
  state.reason = data.reason ?? null;
  state.afterPause = data.after_pause ?? null;
  state.wakeAt = data.after_pause?.at ?? data.wake_at ?? null;
  state.epoch = Math.max(state.epoch, data.epoch ?? 0);
  state.sandbox = data.sandbox ?? state.sandbox;
  if (data.begun) begin(state, event, data.begun);
  if (data.forked_from) becomeFork(state, event);
  if (data.status === "completed") state.result = data.result ?? null;
  if (data.status !== "failed") state.problem = null;
}

function begin(
  state: SessionState,
  event: EnvelopeOf<"session">,
  begun: NonNullable<SessionData["begun"]>,
): void {
  state.workflow = begun.workflow;
  state.title = begun.title;
  state.mode = begun.mode;
  state.input = begun.input ?? null;
  state.budget = begun.budget ?? {};
  state.idempotencyKey = begun.idempotency_key ?? null;
  state.workspace = begun.workspace ?? null;
  state.createdAt = moment(event.timestamp);
}

function becomeFork(state: SessionState, event: EnvelopeOf<"session">): void {
  state.forkedFrom = event.data.forked_from ?? null;
  state.createdAt = moment(event.timestamp);
  state.idempotencyKey = null;
}

function changeStep(state: SessionState, event: EnvelopeOf<"step">): void {
  const data = event.data;
  keepStep(state, {
    key: data.key,
    name: data.name,
    status: data.status,
    effect: data.effect ?? "read",
    attempt: data.attempt ?? 1,
    seconds: data.seconds ?? null,
    error: data.problem ?? null,
    reason: data.reason ?? null,
    seq: event.seq,
  });
  state.usage = plus(state.usage, spent(data));
}

function retry(state: SessionState, key: string, attempt: number): void {
  const step = state.steps.get(key);
  if (step) keepStep(state, { ...step, attempt: attempt + 1 });
}

function keepStep(state: SessionState, step: Step): void {
  state.steps.set(step.key, step);
  state.tries.set(tryOf(step.key), step);
}

/** What the step took, once it has ended; a mere value (the time, a random number) takes nothing. */
function spent(data: StepData): Usage {
  if (data.seconds == null || (data.status !== "completed" && data.status !== "failed")) return NOTHING_USED;
  return plus({ ...NOTHING_USED, ...data.usage }, { tokens: 0, usd: 0, steps: 1, seconds: data.seconds });
}

function plus(one: Usage, other: Usage): Required<Usage> {
  return {
    tokens: (one.tokens ?? 0) + (other.tokens ?? 0),
    usd: rounded((one.usd ?? 0) + (other.usd ?? 0)),
    steps: (one.steps ?? 0) + (other.steps ?? 0),
    seconds: rounded((one.seconds ?? 0) + (other.seconds ?? 0)),
  };
}

/** To six places, as the server does, so that a sum is the same in whatever order it is made. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function isDone(step: PlannedStep, tried: Step | undefined): boolean {
  if (tried?.status === "failed") return step.critical === false;
  return tried?.status === "completed" || tried?.status === "skipped";
}

const tryOf = (key: string) => key.split("#", 1)[0] ?? "";

/** Whole seconds are written without a fraction, as the server writes them in its view. */
const moment = (timestamp: string) => timestamp.replace(/\.000000Z$/, "Z");

/** Rounded to one digit, a tie to the even one, as Python rounds. */
function tenths(percent: number): number {
  const isTie = Number.isInteger(percent * 4) && !Number.isInteger(percent * 2);
  return isTie ? (2 * Math.round((percent * 10) / 2)) / 10 : Number(percent.toFixed(1));
}
