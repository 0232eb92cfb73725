import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Connection, SessionSocket } from "@/wire/socket";
import type { Frame } from "@/wire/types";
import { begun, SESSION, step } from "../support/events";
import { serveSockets, TestSocket } from "../support/server";

let frames: Frame[];
let connections: Connection[];
let stale: number;
let socket: SessionSocket;

beforeEach(() => {
  vi.useFakeTimers();
  serveSockets();
  frames = [];
  connections = [];
  stale = 0;
  socket = new SessionSocket({
    sessionId: SESSION,
    after: 0,
    onFrame: (frame) => frames.push(frame),
    onConnection: (connection) => connections.push(connection),
    onStale: () => stale++,
    random: () => 1,
  });
  socket.start();
});

afterEach(() => {
  socket.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a session's socket", () => {
  test("comes back after the last event it has", () => {
    TestSocket.last.accept();
    TestSocket.last.say(begun(1));
    TestSocket.last.say(step(2, "a", "running"));
    TestSocket.last.break();
    vi.advanceTimersByTime(500);
    expect(TestSocket.all).toHaveLength(2);
    expect(TestSocket.last.url).toMatch(`/ws/execution/${SESSION}?after=2`);
    expect(connections).toEqual(["connecting", "open", "lost", "connecting"]);
  });

  test("waits twice as long after every failure, up to a limit, and hurries again after a success", () => {
    const waits: number[] = [];
    for (let loss = 0; loss < 7; loss++) {
      TestSocket.last.break();
      const before = TestSocket.all.length;
      let waited = 0;
      while (TestSocket.all.length === before) {
        vi.advanceTimersByTime(500);
        waited += 500;
      }
      waits.push(waited);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    TestSocket.last.accept();
    TestSocket.last.say(begun(1));
    TestSocket.last.break();
    vi.advanceTimersByTime(500);
    expect(TestSocket.all).toHaveLength(9);
  });

  test("passes every durable event on once, and asks again when one is missing", () => {
    TestSocket.last.accept();
    TestSocket.last.say(begun(1));
    TestSocket.last.say(begun(1));
    TestSocket.last.say(step(3, "b", "running"));
    expect(frames.map((frame) => frame.seq)).toEqual([1]);
    expect(connections.at(-1)).toBe("lost");
    vi.advanceTimersByTime(500);
    expect(TestSocket.last.url).toMatch("after=1");
  });

  test("passes on frames that are not kept, and ignores what is no frame", () => {
    TestSocket.last.accept();
    TestSocket.last.say({ seq: null, after: 0, type: "token", data: { message: "a", text: "x" } });
    TestSocket.last.say("{not json");
    TestSocket.last.say("17");
    expect(frames).toHaveLength(1);
    expect(connections.at(-1)).toBe("open");
  });

  test("resolves what was sent when the server acknowledges it, and rejects what it refuses, by their ids", async () => {
    TestSocket.last.accept();
    const pause = socket.send({ type: "pause", data: {} });
    const resume = socket.send({ type: "resume", data: {} });
    const [first, second] = TestSocket.last.sent;
    const detail = "It is running.";
    TestSocket.last.say({
      type: "error",
      id: second?.id,
      data: { type: "x", status: 409, detail, hint: "Wait." },
    });
    TestSocket.last.say({ type: "ack", id: first?.id });
    await expect(pause).resolves.toBeUndefined();
    await expect(resume).rejects.toMatchObject({ detail, hint: "Wait.", status: 409 });
  });

  test("takes an error event of the session for an event, not for a refusal", () => {
    TestSocket.last.accept();
    const problem = { kind: "X", category: "logic", detail: "broken" };
    TestSocket.last.say({ ...begun(1), type: "error", data: { problem } });
    expect(frames).toHaveLength(1);
  });

  test("rejects what was sent when the connection breaks before the answer", async () => {
    TestSocket.last.accept();
    const pause = socket.send({ type: "pause", data: {} });
    TestSocket.last.break();
    await expect(pause).rejects.toMatchObject({ kind: "Unconfirmed" });
    await expect(socket.send({ type: "pause", data: {} })).rejects.toMatchObject({ kind: "NotConnected" });
  });

  test("asks a silent server for a word, and leaves one that gives none", () => {
    TestSocket.last.accept();
    vi.advanceTimersByTime(20_000);
    expect(TestSocket.last.sent).toMatchObject([{ type: "ping" }]);
    TestSocket.last.say({ type: "ack", id: "ping" });
    vi.advanceTimersByTime(20_000);
    expect(TestSocket.last.sent).toHaveLength(2);
    vi.advanceTimersByTime(10_000);
    expect(TestSocket.last.isClosed).toBe(true);
    expect(connections.at(-1)).toBe("lost");
  });

  test("waits without trying while the browser is offline, and comes back at once when it is online", () => {
    TestSocket.last.accept();
    window.dispatchEvent(new Event("offline"));
    vi.advanceTimersByTime(60_000);
    expect(TestSocket.all).toHaveLength(1);
    expect(connections.at(-1)).toBe("offline");
    window.dispatchEvent(new Event("online"));
    expect(TestSocket.all).toHaveLength(2);
  });

  test("says so when the server does not know its cursor, and does not come back by itself", () => {
    TestSocket.last.accept();
    TestSocket.last.break(4400);
    vi.advanceTimersByTime(60_000);
    expect(stale).toBe(1);
    expect(TestSocket.all).toHaveLength(1);
  });

  test("is silent once it is stopped", () => {
    TestSocket.last.accept();
    socket.stop();
    vi.advanceTimersByTime(60_000);
    window.dispatchEvent(new Event("online"));
    expect(TestSocket.all).toHaveLength(1);
    expect(TestSocket.last.isClosed).toBe(true);
  });
});
