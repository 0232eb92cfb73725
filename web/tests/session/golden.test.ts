/** Logs that Python wrote fold to the state that Python folded them to. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import {
  advanced,
  fold,
  fromView,
  isRewind,
  progressOf,
  type SessionState,
  stepsAhead,
} from "@/session/fold";
import type { Envelope, SessionView } from "@/wire/types";

type Told = {
  view: SessionView;
  epoch: number;
  idempotency_key: string | null;
  answered: Record<string, unknown>;
  after_pause: unknown;
};

const REPOSITORY = resolve(import.meta.dirname, "../../..");
const FOLDERS = [
  ...readdirSync(join(REPOSITORY, "tests/replay"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
    .map((entry) => join(REPOSITORY, "tests/replay", entry.name)),
  join(REPOSITORY, "tests/golden"),
  join(REPOSITORY, "golden"),
].filter((folder) => existsSync(folder));
const LOGS = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => /\.jsonl?$/.test(name) && !name.endsWith(".state.json"))
    .map((name) => join(folder, name)),
);

describe.each(LOGS)("%s", (path) => {
  const events = eventsIn(path);
  const told = JSON.parse(readFileSync(path.replace(/\.jsonl?$/, ".state.json"), "utf8")) as Told;

  test("folds to the state that it has in Python", () => {
    expect(knownThen(shown(fold(told.view.session_id, events)), told)).toEqual(told);
  });

  test("goes on from the server's view as if folded from the beginning", () => {
    const rest = events.slice(events.findLastIndex(isRewind) + 1);
    const whole = fold(told.view.session_id, events);
    for (let cut = 0; cut <= rest.length; cut++) {
      const early = fold(told.view.session_id, events.slice(0, events.length - rest.length + cut));
      const view = { ...shown(early).view, session_id: told.view.session_id } as SessionView;
      expect(rounded(advanced(fromView(view), rest.slice(cut)))).toEqual(rounded(whole));
    }
  });
});

test("there are golden logs to fold", () => {
  expect(LOGS.length).toBeGreaterThan(0);
});

/** An export (one JSON object), or one envelope a line. */
function eventsIn(path: string): Envelope[] {
  const text = readFileSync(path, "utf8");
  if (path.endsWith(".jsonl"))
    return text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return JSON.parse(text).events;
}

/** The state in the form in which Python tells it. */
function shown(state: SessionState): Told {
  return {
    view: {
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
      earlier_steps: 0,
      pending: [...state.pending.values()],
      checkpoints: [...state.checkpoints].map(([seq, name]) => ({ seq, name })),
      artifacts: [...state.artifacts.values()],
      sandbox: state.sandbox,
      forked_from: state.forkedFrom,
      budget: state.budget,
      usage: state.usage,
      result: state.result,
      error: state.problem,
    },
    epoch: state.epoch,
    idempotency_key: state.idempotencyKey,
    answered: Object.fromEntries(
      [...state.answered].map(([id, data]) => [id, { type: "user_response", ...data }]),
    ),
    after_pause: state.afterPause,
  };
}

/** Seconds that are added up in another order differ in their last digit. */
function rounded(state: SessionState): SessionView {
  const { view } = shown(state);
  const seconds = Number((view.usage.seconds ?? 0).toFixed(9));
  return { ...view, usage: { ...view.usage, seconds } };
}

/** What the fold says, in the words that the log's version had: it leaves out what is null, and did not know all. */
function knownThen(now: unknown, then: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(then) && now.length === then.length) {
    return now.map((item, index) => knownThen(item, then[index]));
  }
  if (!isObject(now) || !isObject(then)) return now ?? null;
  return Object.fromEntries(Object.keys(then).map((name) => [name, knownThen(now[name], then[name])]));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
