import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { SessionListed } from "@/wire/types";
import { SESSION } from "../support/events";
import { open } from "../support/page";
import { type Asked, serveRoutes } from "../support/server";

let asked: Asked[];
let answer: { status?: number; body: unknown; headers?: Record<string, string> };

const listed = (n: number): SessionListed => ({
  session_id: `${SESSION.slice(0, -3)}${String(n).padStart(3, "0")}`,
  title: `Session ${n}`,
  workflow: "plan",
  mode: "hitl",
  status: "running",
  seq: 12,
  created_at: "2026-03-01T12:00:00Z",
  updated_at: "2026-03-01T12:00:00Z",
});

beforeEach(() => {
  answer = { status: 201, body: {} };
  asked = serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    "GET /api/execution/sessions": ({ path }) =>
      path.includes("cursor=next")
        ? { body: { sessions: [listed(2)], next: null } }
        : { body: { sessions: [listed(1)], next: "next" } },
    "POST /api/execution/start": () => answer,
  });
});

afterEach(() => vi.unstubAllGlobals());

describe("the list of sessions", () => {
  test("searches and filters on the server", async () => {
    const { user } = open("/sessions");
    await screen.findByText("Session 1");
    await user.type(screen.getByLabelText("Search in titles"), "dep");
    await user.selectOptions(screen.getByLabelText("Status"), "Waiting");
    await user.selectOptions(screen.getByLabelText("Mode"), "autonomous");
    await waitFor(() => expect(asked.at(-1)?.path).toMatch(/status=waiting&mode=autonomous&q=dep/));
  });

  test("goes on with older ones", async () => {
    const { user } = open("/sessions");
    await user.click(await screen.findByRole("button", { name: "Older sessions" }));
    await screen.findByText("Session 2");
    expect(screen.queryByRole("button", { name: "Older sessions" })).toBeNull();
  });
});

describe("the start dialog", () => {
  async function starting(plan: string) {
    const page = open("/sessions");
    await screen.findByText("Session 1");
    await page.user.keyboard("n");
    fireEvent.change(await screen.findByLabelText(/^Plan/), { target: { value: plan } });
    await page.user.click(screen.getByRole("button", { name: "Start" }));
    return page;
  }
  const started = () => asked.filter((one) => one.method === "POST");

  test("starts a plan written in YAML, in the chosen mode", async () => {
    answer = { status: 422, body: { detail: "x" } };
    const { user } = await starting("steps: [{id: a, tool: wait}]");
    await waitFor(() => expect(started()).toHaveLength(1));
    await user.click(screen.getByLabelText(/Autonomous/));
    await user.click(screen.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(started()).toHaveLength(2));
    expect(started()[1]?.body).toMatchObject({
      mode: "autonomous",
      plan: { steps: [{ id: "a", tool: "wait" }] },
    });
  });

  test("sends the same key with the same body, and another with another", async () => {
    answer = { status: 503, body: { detail: "The store is busy." } };
    const { user } = await starting("steps: []");
    await screen.findByText("The store is busy.");
    await user.click(screen.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(started()).toHaveLength(2));
    await user.type(screen.getByLabelText("Title"), "T");
    await user.click(screen.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(started()).toHaveLength(3));
    const [first, second, third] = started().map(
      (one) => (one.body as { idempotency_key: string }).idempotency_key,
    );
    expect(first).toBe(second);
    expect(third).not.toBe(first);
  });

  test("shows each problem of a plan with its place", async () => {
    const errors = [
      { place: "steps.a.tool", what: "there is no tool nope" },
      { place: "steps.b.needs", what: "there is no step x" },
    ];
    answer = { status: 422, body: { detail: "The plan does not fit.", errors } };
    await starting("steps: []");
    await screen.findByText("2 things have to be corrected first:");
    screen.getByText("steps.a.tool");
    screen.getByText(/there is no step x/);
  });

  test("is kind at the limit, and shows which sessions are live", async () => {
    answer = {
      status: 429,
      body: { detail: "5 sessions are live.", hint: "Wait for one to end." },
      headers: { "Retry-After": "5" },
    };
    await starting("steps: []");
    await screen.findByText(/Nothing is lost; yours is not started yet/);
    screen.getByText(/Try again in about 5 s/);
    await waitFor(() => expect(screen.getAllByText("Session 1").length).toBeGreaterThan(1));
  });

  test("says which field cannot be read, without asking the server", async () => {
    await starting("[1, 2]");
    await screen.findByText(/plan: This must be an object/);
    expect(started()).toEqual([]);
  });
});
