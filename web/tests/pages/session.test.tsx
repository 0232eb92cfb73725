import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Envelope, PersonRequest, SessionView } from "@/wire/types";
import { begun, event, SESSION, step } from "../support/events";
import { open } from "../support/page";
import { type Asked, serveRoutes, serveSockets, TestSocket } from "../support/server";

const AT = `/api/execution/sessions/${SESSION}`;
const PLAN = ["a", "b", "c", "d"].map((key) => ({ key, title: `Step ${key}`, status: "pending" as const }));
const APPROVAL: PersonRequest = {
  type: "approval_request",
  request_id: "r1",
  key: "#gate/b/1",
  title: "files.write on x (b)",
  digest: "digest-of-r1",
  shown: { tool: "files.write", params: { path: "x" }, effect: "write" },
};
let view: SessionView;
let log: Envelope[];
let asked: Asked[];

beforeEach(() => {
  serveSockets();
  log = [
    begun(),
    step(2, "a", "running"),
    step(3, "a", "completed", 2),
    event(4, "checkpoint", { name: "here" }),
    event(5, "log", { text: "on it" }),
  ];
  view = {
    session_id: SESSION,
    status: "running",
    reason: null,
    title: "Deploy it",
    workflow: "plan",
    mode: "hitl",
    input: { n: 1 },
    created_at: "2026-03-01T12:00:00Z",
    updated_at: "2026-03-01T12:00:00Z",
    wake_at: null,
    seq: log.length,
    workspace: null,
    plan: PLAN,
    progress: null,
    steps: [
      {
        key: "a",
        name: "t",
        status: "completed",
        effect: "write",
        attempt: 1,
        seconds: 2,
        error: null,
        reason: null,
        seq: 3,
      },
    ],
    pending: [],
    checkpoints: [{ seq: 4, name: "here" }],
    artifacts: [{ name: "look.page.png", media_type: "image/png", bytes: 4200, key: "look" }],
    sandbox: "bubblewrap",
    forked_from: null,
    budget: { steps: 10 },
    earlier_steps: 0,
    usage: { tokens: 0, usd: 0, steps: 1, seconds: 2 },
    result: null,
    error: null,
  };
  asked = serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    [`GET ${AT}`]: () => ({ body: view }),
    [`GET ${AT}/events`]: () => ({ body: { events: log, next: null } }),
    [`GET ${AT}/rewind`]: () => ({ body: { changes: [{ path: "x.txt", kind: "write", why: null }] } }),
    [`POST ${AT}/rewind`]: () => ({ body: view }),
  });
});

afterEach(() => vi.unstubAllGlobals());

async function opened(address = `/sessions/${SESSION}`) {
  const page = open(address);
  await screen.findByRole("heading", { name: "Deploy it" });
  await waitFor(() => expect(TestSocket.all).toHaveLength(1));
  TestSocket.last.accept();
  await screen.findByText("live");
  return page;
}

describe("the page of a session", () => {
  test("shows how far it is, and about how long it will take, as the server says", async () => {
    await opened();
    screen.getByText("step 2 of 4 · 25 %");
    const eta = { low: 100, mid: 120, high: 240, confidence: 0.8 };
    TestSocket.last.say({
      seq: null,
      after: 5,
      type: "progress",
      data: { percent: 25, step: 2, of: 4, eta },
    });
    await screen.findByText("step 2 of 4 · 25 % · about 2 min left (2–4 min)");
  });

  test("offers only what its status allows, and pauses over the socket", async () => {
    const { user } = await opened();
    expect(screen.queryByRole("button", { name: "Resume" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Pause" }));
    expect(TestSocket.last.sent).toMatchObject([{ type: "pause", data: {} }]);
    TestSocket.last.say({ type: "ack", id: TestSocket.last.sent[0]?.id });
    TestSocket.last.say(event(6, "session", { status: "paused" }));
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Resume" })).toHaveProperty("disabled", false),
    );
  });

  test("asks before it ends a session for good", async () => {
    const { user } = await opened();
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    expect(TestSocket.last.sent).toEqual([]);
    await user.click(within(screen.getByRole("dialog")).getByRole("button", { name: "Cancel the session" }));
    expect(TestSocket.last.sent).toMatchObject([{ type: "cancel" }]);
  });

  test("shows what it asks, approves by key, and has it gone at once", async () => {
    view = { ...view, status: "waiting", pending: [APPROVAL] };
    const { user } = await opened(`/sessions/${SESSION}?request=r1`);
    screen.getByRole("heading", { name: "files.write on x (b)" });
    await user.keyboard("a");
    expect(TestSocket.last.sent).toMatchObject([
      { type: "approve", data: { request_id: "r1", digest: "digest-of-r1" } },
    ]);
    expect(screen.queryByRole("heading", { name: "files.write on x (b)" })).toBeNull();
  });

  test("names the steps that wait for somebody, and what its commands are confined by", async () => {
    view = { ...view, status: "waiting", reason: "waits for a decision on b", pending: [APPROVAL] };
    const { user } = await opened();
    screen.getByText("Waits for an answer: Step b");
    screen.getByTitle("Its commands run in a sandbox: bubblewrap");
    await user.click(screen.getAllByRole("button", { name: "Steps" })[0] as HTMLElement);
    expect(screen.getAllByText("waiting")).toHaveLength(2);
  });

  test("says plainly that nothing confines its commands", async () => {
    view = { ...view, sandbox: "none" };
    await opened();
    screen.getByText("no sandbox");
  });

  test("says which call of a script asks", async () => {
    view = { ...view, status: "waiting", pending: [{ ...APPROVAL, key: "#gate/b/script/5/1" }] };
    await opened();
    screen.getByText("Call 5 of the script of “Step b”");
  });

  test("brings a request back and says why when the server refuses", async () => {
    view = { ...view, status: "waiting", pending: [APPROVAL] };
    const { user } = await opened();
    await user.keyboard("a");
    const problem = { type: "x", status: 409, detail: "What is to be approved is not what you saw." };
    TestSocket.last.say({ type: "error", id: TestSocket.last.sent[0]?.id, data: problem });
    await screen.findByText("What is to be approved is not what you saw.");
    screen.getByRole("heading", { name: "files.write on x (b)" });
  });

  test("says what happened since one left", async () => {
    window.localStorage.setItem(
      "belayer.seen",
      JSON.stringify([[SESSION, { seq: 2, at: Date.now() - 120_000 }]]),
    );
    const { user } = await opened();
    screen.getByText(/Since you left, 2 min ago:/);
    screen.getByText(/1 step done\./);
    await user.click(screen.getByRole("button", { name: "Dismiss" }));
    expect(screen.queryByText(/Since you left/)).toBeNull();
  });

  test("shows what a rewind would do before it does it", async () => {
    view = { ...view, status: "paused" };
    const { user } = await opened();
    await user.click(screen.getAllByRole("button", { name: "Checkpoints" })[0] as HTMLElement);
    await user.click(await screen.findByRole("button", { name: "Rewind to here" }));
    await screen.findByText("written back");
    expect(asked.some((one) => one.method === "POST")).toBe(false);
    await user.click(screen.getByRole("button", { name: "Rewind" }));
    await waitFor(() =>
      expect(asked.at(-1)).toMatchObject({ path: `${AT}/rewind`, body: { seq: 4, files: true } }),
    );
  });

  test("goes through its places with the arrow keys, and shows what a rewind there would do", async () => {
    view = { ...view, status: "paused" };
    const { user } = await opened();
    await user.click(screen.getAllByRole("button", { name: "Checkpoints" })[0] as HTMLElement);
    const slider = await screen.findByRole("slider", { name: "Go back in time" });
    expect(slider.getAttribute("aria-valuetext")).toBe("here, event 4, place 2 of 2");
    fireEvent.change(slider, { target: { value: "0" } });
    expect(slider.getAttribute("aria-valuetext")).toBe("a, event 3, place 1 of 2");
    await screen.findByText("written back");
    expect(asked.at(-1)?.path).toBe(`${AT}/rewind?seq=3`);
    await user.click(screen.getByRole("button", { name: "Fork here" }));
    await waitFor(() =>
      expect(asked).toContainEqual({ method: "POST", path: `${AT}/fork`, body: { seq: 3 } }),
    );
    await user.click(screen.getByRole("button", { name: "Rewind here" }));
    screen.getByRole("heading", { name: "Rewind to event 3?" });
  });

  test("does not offer a rewind while it runs", async () => {
    const { user } = await opened();
    await user.click(screen.getAllByRole("button", { name: "Checkpoints" })[0] as HTMLElement);
    await user.click(await screen.findByRole("button", { name: "Rewind to here" }));
    await screen.findByText(/Pause it first/);
    expect(screen.getByRole("button", { name: "Rewind" })).toHaveProperty("disabled", true);
  });

  test("keeps what one said when it could not be sent", async () => {
    const { user } = await opened();
    TestSocket.last.break();
    await screen.findByText("reconnecting…");
    await user.type(screen.getByLabelText("Say something to the session"), "hello{Enter}");
    await screen.findByText(/nothing was sent/);
    expect(screen.getByLabelText("Say something to the session")).toHaveProperty("value", "hello");
  });

  test("says why it cannot be shown, and what to do", async () => {
    serveRoutes({
      "GET /api/inbox": () => ({ body: { requests: [] } }),
      [`GET ${AT}`]: () => ({
        status: 404,
        body: { detail: "There is no session like that.", hint: "See `belayer ls`." },
      }),
    });
    open(`/sessions/${SESSION}`);
    await screen.findByText("There is no session like that.");
    screen.getByText("See `belayer ls`.");
  });
});
