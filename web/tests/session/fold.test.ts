import { describe, expect, test } from "vitest";
import { advanced, fold, fromView, progressOf, stepOf, stepsAhead } from "@/session/fold";
import { placesOf } from "@/session/places";
import type { Envelope, SessionView } from "@/wire/types";
import { begun, event, SESSION, step } from "../support/events";

const plan = (seq: number, ...keys: string[]) =>
  event(seq, "plan", { key: "plan", steps: keys.map((key) => ({ key, title: key })) });

const asks = (seq: number, id: string, key: string) =>
  event(seq, "request_input", { request_id: id, key, prompt: "Well?", kind: "text", purpose: "question" });

describe("the fold", () => {
  test("takes the last try of a planned step", () => {
    const state = fold(SESSION, [
      begun(),
      plan(2, "a"),
      step(3, "a", "failed", 1),
      step(4, "a#2", "running"),
    ]);
    expect(stepsAhead(state)).toMatchObject([{ key: "a", status: "running" }]);
  });

  test("has a planned step paused while a person is asked about it", () => {
    const state = fold(SESSION, [begun(), plan(2, "a"), asks(3, "r1", "#gate/a#2/1")]);
    expect(stepsAhead(state)[0]?.status).toBe("paused");
    const answered = advanced(state, [event(4, "user_response", { request_id: "r1", value: "yes" })]);
    expect(stepsAhead(answered)[0]?.status).toBe("pending");
  });

  test("forgets what a rewind left behind, but not what it cost", () => {
    const state = fold(SESSION, [
      begun(),
      step(2, "a", "completed", 2),
      step(3, "b", "completed", 3),
      event(4, "session", { status: "paused", rewound_to: 2, epoch: 2 }),
    ]);
    expect([...state.steps.keys()]).toEqual(["a"]);
    expect(state.usage).toEqual({ tokens: 0, usd: 0, steps: 2, seconds: 5 });
    expect(state).toMatchObject({ status: "paused", seq: 4, epoch: 2 });
  });

  test("has a copy in a folder of its own, also after a rewind to before it was one", () => {
    const log = [
      begun(),
      step(2, "a", "completed", 1),
      event(3, "rehomed", { because: "fork", workspace: "/srv/own" }),
    ];
    expect(fold(SESSION, log).workspace).toBe("/srv/own");
    const rewound = event(4, "session", { status: "paused", rewound_to: 2 });
    expect(fold(SESSION, [...log, rewound]).workspace).toBe("/srv/own");
    expect(fold(SESSION, [...log, event(4, "rehomed", { because: "import" })]).workspace).toBeNull();
  });

  test("counts what a newer server sends and this page does not know", () => {
    const newer = { ...begun(2), type: "hologram", data: {} } as unknown as Envelope;
    expect(fold(SESSION, [begun(), newer])).toMatchObject({ seq: 2, title: "A plan" });
  });

  test("has a replaced approval no longer pending", () => {
    const approval = (seq: number, id: string, replaces?: string) =>
      event(seq, "approval_request", { request_id: id, key: "a", title: "t", digest: "d", replaces });
    const state = fold(SESSION, [begun(), approval(2, "r1"), approval(3, "r2", "r1")]);
    expect([...state.pending.keys()]).toEqual(["r2"]);
  });

  test.each([
    ["fetch", "fetch"],
    ["fetch#2", "fetch"],
    ["fetch/question", "fetch"],
    ["#gate/fetch#2/1", "fetch"],
    ["#budget", ""],
  ])("knows the step of the key %s", (key, expected) => {
    expect(stepOf(key)).toBe(expected);
  });

  test.each([
    [1, 16, 6.2],
    [3, 16, 18.8],
    [1, 3, 33.3],
    [2, 3, 66.7],
    [7, 7, 100],
  ])("rounds %i of %i to %d as Python does", (done, of, percent) => {
    const keys = Array.from({ length: of }, (_, index) => `s${index}`);
    const ended = keys.slice(0, done).map((key, index) => step(3 + index, key, "completed", 1));
    expect(progressOf(fold(SESSION, [begun(), plan(2, ...keys), ...ended]))?.percent).toBe(percent);
  });
});

test("the places to go back to are ended steps and named places, in order, without the last event", () => {
  const state = fold(SESSION, [
    begun(),
    step(2, "a", "completed", 1),
    event(3, "checkpoint", { name: "here" }),
    step(4, "now", "completed"),
    step(5, "b", "completed", 1),
  ]);
  expect(placesOf(state).map((place) => place.name)).toEqual(["a", "here"]);
});

test("a view of the server is a state to go on from", () => {
  const view = {
    session_id: SESSION,
    steps: [
      {
        key: "a#2",
        name: "t",
        status: "running",
        effect: "read",
        attempt: 1,
        seconds: null,
        error: null,
        reason: null,
        seq: 9,
      },
      {
        key: "a",
        name: "t",
        status: "failed",
        effect: "read",
        attempt: 1,
        seconds: 1,
        error: null,
        reason: null,
        seq: 4,
      },
    ],
    pending: [],
    checkpoints: [],
    artifacts: [],
    sandbox: null,
    plan: [{ key: "a", title: "A", status: "running" }],
    usage: { tokens: 1, usd: 0, steps: 1, seconds: 1 },
    budget: {},
    seq: 9,
    status: "running",
  } as unknown as SessionView;
  const state = advanced(fromView(view), [step(10, "a#2", "completed", 2)]);
  expect(stepsAhead(state)[0]?.status).toBe("completed");
  expect(state.usage).toMatchObject({ steps: 2, seconds: 3 });
});
