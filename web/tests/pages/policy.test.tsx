import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Policy, Rule } from "@/wire/types";
import { open } from "../support/page";
import { type Asked, serveRoutes } from "../support/server";

const MINE: Rule[] = [
  { verdict: "allow", tool: "files.write", note: "I trust it" },
  { verdict: "ask", tool: "mail.*" },
  { verdict: "deny", path: "secrets/**" },
];
let policy: Policy;
let asked: Asked[];
let proposed: { rule: Rule; approved: number }[];
let trial: { calls: number; rejected: number; words: string };

beforeEach(() => {
  policy = {
    rules: MINE,
    defaults: [{ verdict: "allow", effect: "read", note: "looking is free" }],
    foreign: [],
  };
  proposed = [];
  trial = { calls: 41, rejected: 0, words: "It would have passed 41 calls, none you rejected." };
  asked = serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    "GET /api/execution/sessions": () => ({ body: { sessions: [], next: null } }),
    "GET /api/tools": () => ({ body: { tools: [] } }),
    "GET /api/policy": () => ({ body: policy }),
    "GET /api/policy/suggestions": () => ({ body: { suggestions: proposed } }),
    "POST /api/policy/try": ({ body }) => ({ body: { ...(body as object), ...trial } }),
    "PUT /api/policy": ({ body }) => {
      policy = { ...policy, rules: (body as { rules: Rule[] }).rules, foreign: [] };
      return { body: policy };
    },
  });
});

afterEach(() => vi.unstubAllGlobals());

const saved = () => asked.filter((one) => one.method === "PUT").map((one) => (one.body as Policy).rules);
const save = () => screen.findByRole("button", { name: "Save" });
const review = () => screen.findByRole("button", { name: "Try and save…" });

async function addRule(tool: string) {
  const page = open("/policy");
  await page.user.click(await screen.findByRole("button", { name: "Add a rule" }));
  await page.user.selectOptions(screen.getByLabelText("What becomes of such a call"), "allow");
  await page.user.type(screen.getByLabelText("Tool"), `${tool}{Enter}`);
  return page;
}

describe("the policy", () => {
  test("shows the rules in their order, and the defaults below", async () => {
    open("/policy");
    const mine = await screen.findByRole("region", { name: "Your rules" });
    expect(
      within(mine)
        .getAllByRole("listitem")
        .map((row) => row.textContent),
    ).toEqual(["1allowtool files.writeI trust it", "2asktool mail.*", "3denypath secrets/**"]);
    within(screen.getByRole("region", { name: "Defaults" })).getByText("looking is free");
  });

  test("tries a new rule on the past before it is saved", async () => {
    const { user } = await addRule("shell.run");
    await user.click(await review());
    await screen.findByText("It would have passed 41 calls, none you rejected.");
    expect(saved()).toEqual([]);
    await user.click(await save());
    await waitFor(() => expect(saved()).toEqual([[{ verdict: "allow", tool: "shell.run" }, ...MINE]]));
    await waitFor(() => expect(screen.queryByText("Your changes do not hold yet.")).toBeNull());
  });

  test("proposes what one's own decisions suggest, and tries it like any other rule", async () => {
    const rule: Rule = { verdict: "allow", tool: "mail.send", host: "example.org" };
    proposed = [
      { rule, approved: 7 },
      { rule: MINE[0] as Rule, approved: 3 },
    ];
    const { user } = open("/policy");
    const ahead = await screen.findByRole("region", { name: "Proposals" });
    expect(within(ahead).getAllByRole("listitem")).toHaveLength(1);
    within(ahead).getByText("approved 7 times, never rejected");
    await user.click(within(ahead).getByRole("button", { name: "Add" }));
    await user.click(await review());
    await user.click(await save());
    await waitFor(() => expect(saved()).toEqual([[rule, ...MINE]]));
    expect(screen.queryByRole("region", { name: "Proposals" })).toBeNull();
  });

  test("asks again when a rule would have passed what was rejected", async () => {
    trial = { calls: 5, rejected: 2, words: "It would have passed 5 calls, 2 of them you REJECTED." };
    const { user } = await addRule("shell.run");
    await user.click(await review());
    await screen.findByText(/2 of them you REJECTED/);
    expect(await save()).toHaveProperty("disabled", true);
    await user.click(screen.getByLabelText(/I mean it/));
    await user.click(await save());
    await waitFor(() => expect(saved()).toHaveLength(1));
  });

  test("does not save while the trial has failed", async () => {
    const { user } = await addRule("shell.run");
    serveRoutes({
      "GET /api/policy": () => ({ body: policy }),
      "POST /api/policy/try": () => ({ status: 422, body: { detail: "The pattern cannot be read." } }),
    });
    await user.click(await review());
    await screen.findByText("The pattern cannot be read.");
    expect(await save()).toHaveProperty("disabled", true);
  });

  test("says what is wrong with a rule, and keeps it in the form", async () => {
    const { user } = open("/policy");
    await user.click(await screen.findByRole("button", { name: "Add a rule" }));
    await user.click(screen.getByRole("button", { name: "Add" }));
    await screen.findByText(/Say which calls it is about/);
  });

  test("moves a rule by keyboard, and the focus with it", async () => {
    const { user } = open("/policy");
    const down = await screen.findByRole("button", { name: "Move down: allow tool files.write" });
    down.focus();
    await user.keyboard("{Enter}");
    expect(document.activeElement).toBe(
      screen.getByRole("button", { name: "Move down: allow tool files.write" }),
    );
    await user.keyboard("{Enter}");
    screen.getByText("Now at place 3 of 3");
    await user.click(await review());
    await screen.findByRole("region", { name: "Asked earlier than before" });
    await user.click(await save());
    await waitFor(() => expect(saved()).toEqual([[MINE[1], MINE[2], MINE[0]]]));
  });

  test("changes and removes a rule, and forgets it all when discarded", async () => {
    const { user } = open("/policy");
    await user.click(await screen.findByRole("button", { name: "Change: ask tool mail.*" }));
    await user.selectOptions(screen.getByLabelText("Risk"), "high");
    await user.click(screen.getByRole("button", { name: "Change" }));
    await screen.findByText("tool mail.*, risk high or higher");
    await user.click(screen.getByRole("button", { name: "Remove: deny path secrets/**" }));
    expect(screen.queryByText("path secrets/**")).toBeNull();
    await user.click(screen.getByRole("button", { name: "Discard" }));
    screen.getByText("path secrets/**");
    expect(saved()).toEqual([]);
  });

  test("does not overwrite rules that were changed elsewhere meanwhile", async () => {
    const { user } = await addRule("shell.run");
    await user.click(await review());
    const button = await save();
    policy = { ...policy, rules: [] };
    await user.click(button);
    await screen.findByText(/changed elsewhere meanwhile, so nothing was saved/);
    expect(saved()).toEqual([]);
  });

  test("warns of rules from elsewhere, and tries them before they become one's own", async () => {
    policy = { ...policy, rules: [], foreign: MINE };
    const { user } = open("/policy");
    await screen.findByText(/saved elsewhere/);
    await user.click(screen.getByRole("button", { name: "Make them mine…" }));
    await user.click(await review());
    expect(await screen.findAllByText(/It would have passed 41 calls/)).toHaveLength(3);
    await user.click(await save());
    await waitFor(() => expect(saved()).toEqual([MINE]));
    await waitFor(() => expect(screen.queryByText(/saved elsewhere/)).toBeNull());
  });
});
