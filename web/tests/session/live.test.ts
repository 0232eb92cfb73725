import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LiveSession, type Working } from "@/session/live";
import type { Envelope, SessionView } from "@/wire/types";
import { begun, event, SESSION, step } from "../support/events";
import { type Asked, serveRoutes, serveSockets, TestSocket } from "../support/server";

const AT = `/api/execution/sessions/${SESSION}`;
let log: Envelope[];
let asked: Asked[];
let live: LiveSession;

function view(): SessionView {
  const steps: SessionView["steps"] = [];
  return {
    session_id: SESSION,
    status: "running",
    reason: null,
    title: "A plan",
    workflow: "plan",
    mode: "hitl",
    input: null,
    created_at: null,
    updated_at: null,
    wake_at: null,
    seq: log.length,
    workspace: null,
    plan: [],
    progress: null,
    steps,
    pending: [],
    checkpoints: [],
    artifacts: [],
    sandbox: null,
    forked_from: null,
    budget: {},
    earlier_steps: 0,
    usage: { tokens: 0, usd: 0, steps: 0, seconds: 0 },
    result: null,
    error: null,
  };
}

function page({ path }: Asked): { body: unknown } {
  const query = new URLSearchParams(path.split("?")[1]);
  const after = Number(query.get("after"));
  return { body: { events: log.slice(after, after + Number(query.get("limit"))), next: null } };
}

function working(): Working {
  const now = live.get();
  if (now.face !== "working") throw new Error(`it is ${now.face}`);
  return now;
}

const opened = () => vi.waitUntil(() => live.get().face === "working" && TestSocket.all.length > 0);

beforeEach(() => {
  serveSockets();
  log = [begun(), ...Array.from({ length: 1_299 }, (_, n) => event(n + 2, "log", { text: `line ${n}` }))];
  asked = serveRoutes({ [`GET ${AT}`]: () => ({ body: view() }), [`GET ${AT}/events`]: page });
  live = new LiveSession(SESSION);
});

afterEach(() => {
  live.stop();
  vi.unstubAllGlobals();
});

describe("a session that is followed", () => {
  test("loads the newest five hundred events, and follows from the last", async () => {
    live.start();
    await opened();
    expect([working().story.first, working().story.last]).toEqual([801, 1_300]);
    expect(TestSocket.last.url).toMatch("after=1300");
  });

  test("pages backwards to its beginning", async () => {
    live.start();
    await opened();
    await live.older();
    expect(working()).toMatchObject({ prepended: 500, isLoadingOlder: false });
    await live.older();
    await live.older();
    expect(working().story.first).toBe(1);
    expect(working().prepended).toBe(800);
  });

  test("loads as far back as an event that a link names", async () => {
    live.start();
    await opened();
    await live.reach(5);
    expect(working().story.event(5)?.seq).toBe(5);
  });

  test("takes what comes into its state and its story", async () => {
    live.start();
    await opened();
    TestSocket.last.accept();
    TestSocket.last.say(step(1_301, "a", "running"));
    TestSocket.last.say({ seq: null, after: 1_301, type: "token", data: { message: "a", text: "Hm" } });
    await vi.waitUntil(() => working().passing.writing.size > 0);
    expect(working().state.steps.get("a")?.status).toBe("running");
    expect(working().story.last).toBe(1_301);
  });

  test("asks the server anew after a rewind", async () => {
    live.start();
    await opened();
    TestSocket.last.accept();
    const rewind = event(1_301, "session", { status: "paused", rewound_to: 3 });
    log.push(rewind);
    const before = asked.length;
    TestSocket.last.say(rewind);
    await vi.waitUntil(() => working().story.last === 1_301);
    expect(asked.slice(before).map((one) => one.path)).toEqual([`${AT}?limit=1`]);
    expect(working().state.seq).toBe(1_301);
  });

  test("shows an own click at once, and takes it back when the server refuses", async () => {
    live.start();
    await opened();
    TestSocket.last.accept();
    const told = live.tell({ type: "pause", data: {} });
    expect(working().intended).toBe("paused");
    TestSocket.last.say({ type: "error", id: "c1", data: { type: "x", status: 409, detail: "No." } });
    await expect(told).rejects.toMatchObject({ detail: "No." });
    expect(working().intended).toBeNull();
  });

  test("hides a decided request at once, and shows it again when the server refuses", async () => {
    live.start();
    await opened();
    TestSocket.last.accept();
    const told = live.tell({ type: "approve", data: { request_id: "r1", digest: "d" } });
    expect(working().settled.has("r1")).toBe(true);
    TestSocket.last.say({ type: "error", id: "c1", data: { type: "x", status: 409, detail: "It changed." } });
    await expect(told).rejects.toMatchObject({ detail: "It changed." });
    expect(working().settled.has("r1")).toBe(false);
  });

  test("forgets words half written when it connects again", async () => {
    live.start();
    await opened();
    TestSocket.last.accept();
    TestSocket.last.say({ seq: null, after: 1_300, type: "token", data: { message: "a", text: "Hm" } });
    await vi.waitUntil(() => working().passing.writing.size > 0);
    TestSocket.last.break();
    await vi.waitUntil(() => TestSocket.all.length === 2);
    TestSocket.last.accept();
    expect(working().passing.writing.size).toBe(0);
  });

  test("remembers how far one had read it", async () => {
    live.start();
    await opened();
    live.stop();
    const again = new LiveSession(SESSION);
    live = again;
    live.start();
    await opened();
    expect(working().seen).toMatchObject({ seq: 1_300 });
    live.forgetSeen();
    expect(working().seen).toBeNull();
  });

  test("loads everything anew when the server does not know its cursor", async () => {
    live.start();
    await opened();
    log = log.slice(0, 10);
    TestSocket.last.accept();
    TestSocket.last.break(4400);
    await vi.waitUntil(() => TestSocket.all.length === 2);
    expect(working().state.seq).toBe(10);
    expect(TestSocket.last.url).toMatch("after=10");
  });

  test("shows why it could not be loaded", async () => {
    serveRoutes({ [`GET ${AT}`]: () => ({ status: 404, body: { detail: "There is no such session." } }) });
    live.start();
    await vi.waitUntil(() => live.get().face === "failed");
    expect(live.get()).toMatchObject({ problem: { detail: "There is no such session.", status: 404 } });
  });
});
