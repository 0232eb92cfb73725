import { screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { ToolView } from "@/wire/types";
import { open } from "../support/page";
import { serveRoutes } from "../support/server";

const tool = (name: string, more: Partial<ToolView> = {}): ToolView => ({
  name,
  about: `What ${name} does.`,
  effect: "write",
  idempotent: true,
  asks: false,
  timeout: 30,
  parameters: { properties: { path: { type: "string", description: "Where" } }, required: ["path"] },
  health: "ok",
  breaker: "closed",
  metrics: { name, calls: 1234, succeeded: 1222, failed: 12, success_rate: 0.9902, p50: 0.012, p95: 2.5 },
  ...more,
});
let tools: ToolView[];

beforeEach(() => {
  tools = [
    tool("files.write"),
    tool("mail.send", { health: "No mail server is set.", breaker: "open", metrics: null }),
  ];
  serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    "GET /api/execution/sessions": () => ({ body: { sessions: [], next: null } }),
    "GET /api/tools": () => ({ body: { tools } }),
  });
});

afterEach(() => vi.unstubAllGlobals());

const cells = (name: RegExp) =>
  within(screen.getByRole("row", { name }))
    .getAllByRole("cell")
    .map((cell) => cell.textContent);

describe("the tools", () => {
  test("are shown with how they are and how they did", async () => {
    open("/tools");
    await screen.findByRole("button", { name: "files.write" });
    expect(cells(/files\.write/)).toEqual(["ok", "closed", "write", "12 ms", "2.5 s", "99 %", "1,234"]);
    expect(cells(/mail\.send/)).toEqual(["not well", "open", "write", "–", "–", "–", "0"]);
  });

  test("open by keyboard, with parameters and an example", async () => {
    const { user, history } = open("/tools");
    (await screen.findByRole("button", { name: "files.write" })).focus();
    await user.keyboard("{Enter}");
    await screen.findByRole("rowheader", { name: "path required" });
    screen.getByText(/"tool": "files\.write"/);
    expect(history.location.hash).toBe("#files.write");
    await user.keyboard("{Enter}");
    expect(screen.queryByRole("rowheader", { name: "path required" })).toBeNull();
  });

  test("can be linked to, and say what is wrong", async () => {
    open("/tools#mail.send");
    await screen.findByText("No mail server is set.");
  });

  test("are found by name or by what they do", async () => {
    const { user } = open("/tools");
    await user.type(await screen.findByLabelText("Search tools"), "MAIL");
    expect(screen.queryByRole("button", { name: "files.write" })).toBeNull();
    screen.getByRole("button", { name: "mail.send" });
    await user.type(screen.getByLabelText("Search tools"), "zzz");
    await screen.findByText("No tool fits");
  });

  test("say why they cannot be shown", async () => {
    serveRoutes({ "GET /api/tools": () => ({ status: 503, body: { detail: "The server is busy." } }) });
    open("/tools");
    await screen.findByText("The server is busy.");
  });
});

describe("the navigation", () => {
  test("leads by single keys", async () => {
    const { user, history } = open("/tools");
    await screen.findByRole("button", { name: "files.write" });
    await user.keyboard("s");
    await screen.findByRole("heading", { name: "Sessions" });
    await user.keyboard("t");
    await screen.findByRole("heading", { name: "Tools" });
    expect(history.location.pathname).toBe("/tools");
  });
});
