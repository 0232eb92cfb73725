import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { laidOut } from "@/panels/change/layout";
import { changeOf } from "@/session/change";
import type { Envelope } from "@/wire/types";
import { SESSION } from "../support/events";
import { open } from "../support/page";
import { recorded } from "../support/recorded";
import { serveRoutes, serveSockets, TestSocket } from "../support/server";
import { viewOf } from "../support/view";

const AT = `/api/execution/sessions/${SESSION}`;
const LOG = recorded("change.jsonl");
let log: Envelope[];
let workflows: string[];

beforeEach(() => {
  serveSockets();
  log = LOG;
  workflows = ["change"];
  serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    "GET /api/execution/sessions": () => ({
      body: {
        sessions: workflows.map((workflow) => ({
          session_id: SESSION,
          status: "completed",
          mode: "hitl",
          title: "Rename the flag",
          workflow,
          created_at: "2026-03-01T12:00:00Z",
          updated_at: "2026-03-01T12:00:00Z",
          seq: 31,
        })),
        next: null,
      },
    }),
    [`GET ${AT}`]: () => ({ body: viewOf(log) }),
    [`GET ${AT}/events`]: () => ({ body: { events: log, next: null } }),
  });
});

afterEach(() => vi.unstubAllGlobals());

async function opened(until = LOG.length) {
  log = LOG.slice(0, until);
  const page = open(`/changes/${SESSION}`);
  await screen.findByRole("heading", { name: "Rename the flag" });
  await waitFor(() => expect(TestSocket.all).toHaveLength(1));
  TestSocket.last.accept();
  return page;
}
const until = (type: string) => LOG.findIndex((one) => (one.type as string) === type) + 1;
const part = (name: string) => within(screen.getByRole("region", { name }));

describe("the page of a change", () => {
  test("shows every stage, and where to find what came of it", async () => {
    await opened();
    const stages = within(screen.getByRole("list", { name: "Stages" })).getAllByRole("listitem");
    expect(stages.map((stage) => stage.textContent)).toContain("Pull request: done");
    const link = part("Outcome").getByRole("link");
    expect(link).toHaveProperty("href", "https://git.example.org/tool/pulls/7");
    expect(link.getAttribute("rel")).toContain("noopener");
    part("Outcome").getByText("Verification passed");
  });

  test("shows the plan with what it reaches while it is asked about, and the exact bytes", async () => {
    await opened(until("approval_request"));
    const asked = within(screen.getByRole("list", { name: "What it asks" }));
    asked.getByText("1. Rename the option");
    asked.getByText(/Reaches 6 modules, 2 of them tests; low risk/);
    asked.getByText("Exactly what is to be approved");
    expect(screen.queryByRole("region", { name: "Plan" })).toBeNull();
  });

  test("shows tests as they come in, the failed ones first", async () => {
    const failed = LOG.findIndex((one) => JSON.stringify(one).includes("AttributeError")) + 1;
    await opened(failed);
    part("Tests").getByText("1 failed, 1 passed");
    expect(part("Tests").getAllByRole("row")[1]?.textContent).toContain("AttributeError");
    for (const told of LOG.slice(failed)) TestSocket.last.say(told);
    await waitFor(() => part("Tests").getByText("1 skipped, 2 passed"));
  });

  test("lets one leave out a hunk or a file, and sends what is not wanted back", async () => {
    const { user } = await opened(until("test_result"));
    const files = part("Files");
    files.getByText(/3 files, 4 of 4 parts chosen/);
    await user.click(files.getByLabelText(/def seconds/));
    await user.click(files.getByLabelText("Choose all of README.md"));
    files.getByText(/3 files, 2 of 4 parts chosen/);
    expect(files.getByLabelText("Choose all of src/tool/options.py")).toHaveProperty("indeterminate", true);
    await user.click(files.getByRole("button", { name: "Send the rest back" }));
    expect(TestSocket.last.sent).toMatchObject([{ type: "message" }]);
    const text = JSON.stringify(TestSocket.last.sent);
    expect(text).toContain("- src/tool/options.py @@ -20,3 +21,3 @@");
    expect(text).toContain("- README.md @@ -3,1 +3,1 @@");
    expect(text).not.toContain("main.py");
  });

  test("colours what is code", async () => {
    await opened();
    expect(part("Files").getAllByText("import")[0]?.className).toContain("code-keyword");
  });

  test("is in the navigation once there is a change", async () => {
    open("/changes");
    await screen.findByRole("link", { name: /Rename the flag/ });
    await within(screen.getByRole("navigation")).findByRole("link", { name: "Changes" });
  });

  test("is not in the navigation before", async () => {
    workflows = [];
    open("/changes");
    await screen.findByText("No changes yet");
    expect(within(screen.getByRole("navigation")).queryByRole("link", { name: "Changes" })).toBeNull();
  });
});

test("what uses a module comes after it, downwards or across", () => {
  const impact = changeOf(LOG).plan?.impact;
  if (!impact) throw new Error("the recorded plan has no impact");
  const many = Array.from({ length: 9 }, (_, n) => ({ name: `user${n}`, distance: 1, isTest: false }));
  const wide = { ...impact, modules: [...impact.modules, ...many] };
  for (const [given, across] of [
    [impact, false],
    [wide, true],
  ] as const) {
    const { placed, isAcross } = laidOut(given);
    expect(isAcross).toBe(across);
    const at = new Map(placed.map(({ module, x, y }) => [module.name, across ? x : y]));
    for (const [from, to] of given.edges) expect(at.get(to) ?? 0).toBeGreaterThan(at.get(from) ?? 0);
  }
});
