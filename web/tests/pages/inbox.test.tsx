import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Pending, PersonRequest } from "@/wire/types";
import { SESSION, step } from "../support/events";
import { open } from "../support/page";
import { type Asked, serveRoutes } from "../support/server";

const AT = `/api/execution/sessions/${SESSION}`;
let waiting: Pending[];
let asked: Asked[];
let refusal: { status: number; body: unknown } | null;

const pending = (request: PersonRequest): Pending => ({
  session_id: SESSION,
  title: "A plan",
  status: "waiting",
  since: "2026-03-01T12:00:00Z",
  request,
});
const approval = (id: string, more: object = {}): Pending =>
  pending({
    type: "approval_request",
    request_id: id,
    key: "#gate/a/1",
    title: `files.write on ${id}`,
    digest: `digest-of-${id}`,
    shown: {
      tool: "files.write",
      params: { path: id },
      effect: "write",
      preview: "--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new",
    },
    ...more,
  });
const question = (id: string, more: object = {}): Pending =>
  pending({
    type: "request_input",
    request_id: id,
    key: "a",
    prompt: `Question ${id}?`,
    kind: "text",
    ...more,
  });

beforeEach(() => {
  refusal = null;
  const decide = ({ body }: Asked) => {
    if (refusal) return refusal;
    waiting = waiting.filter((one) => one.request.request_id !== (body as { request_id: string }).request_id);
    return { body: {} };
  };
  asked = serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: waiting } }),
    [`POST ${AT}/approve`]: decide,
    [`POST ${AT}/reject`]: decide,
    [`POST ${AT}/respond`]: decide,
    [`GET ${AT}`]: () => ({ body: { session_id: SESSION, seq: 3 } }),
    [`GET ${AT}/events`]: () => ({
      body: {
        events: [
          {
            ...step(3, "a", "failed", 1),
            data: { key: "a", name: "t", status: "failed", input: { path: "x" } },
          },
        ],
        next: null,
      },
    }),
  });
});

afterEach(() => vi.unstubAllGlobals());

const told = () => asked.filter((one) => one.method === "POST");
const shown = (name: string) => screen.findByRole("button", { name: new RegExp(name), expanded: true });

describe("the inbox by keyboard", () => {
  test("moves with j and k, and puts the focus where it moved", async () => {
    waiting = [approval("one"), approval("two")];
    const { user } = open("/inbox");
    await shown("on one");
    await user.keyboard("j");
    expect(document.activeElement).toBe(await shown("on two"));
    await user.keyboard("k");
    expect(document.activeElement).toBe(await shown("on one"));
  });

  test("approves with a, by the digest of what was shown", async () => {
    waiting = [approval("one"), approval("two")];
    const { user } = open("/inbox");
    await shown("on one");
    await user.keyboard("a");
    await shown("on two");
    expect(told()).toMatchObject([
      { path: `${AT}/approve`, body: { request_id: "one", digest: "digest-of-one" } },
    ]);
  });

  test("rejects with r, a reason and Enter", async () => {
    waiting = [approval("one")];
    const { user } = open("/inbox");
    await shown("on one");
    await user.keyboard("r");
    await user.keyboard("Not like this{Enter}");
    await waitFor(() => expect(told()).toHaveLength(1));
    expect(told()[0]).toMatchObject({
      path: `${AT}/reject`,
      body: { request_id: "one", reason: "Not like this" },
    });
    await screen.findByText("Nothing waits for you");
  });

  test("answers a question with Enter, a text and Enter", async () => {
    waiting = [question("q1")];
    const { user } = open("/inbox");
    await screen.findByLabelText("Your answer");
    await user.keyboard("{Enter}Ada{Enter}");
    await waitFor(() => expect(told()).toMatchObject([{ body: { request_id: "q1", value: "Ada" } }]));
  });

  test("says yes with a and no with r", async () => {
    waiting = [question("q1", { kind: "confirm" }), question("q2", { kind: "confirm" })];
    const { user } = open("/inbox");
    await shown("q1");
    await user.keyboard("a");
    await shown("q2");
    await user.keyboard("r");
    await waitFor(() =>
      expect(told().map((one) => one.body)).toMatchObject([{ value: true }, { value: false }]),
    );
  });

  test("chooses with Enter, an arrow and Enter", async () => {
    waiting = [question("q1", { kind: "choice", choices: ["red", "blue"] })];
    const { user } = open("/inbox");
    await shown("q1");
    await user.keyboard("{Enter}{ArrowDown}{Enter}");
    await waitFor(() => expect(told()).toMatchObject([{ body: { value: "blue" } }]));
  });

  test("edits the parameters of a failed step with e", async () => {
    waiting = [
      question("q1", {
        kind: "choice",
        purpose: "failure",
        choices: ["retry", "edit", "abort"],
        key: "a/failure",
      }),
    ];
    const { user } = open("/inbox");
    await shown("q1");
    await user.keyboard("e");
    const editor = await screen.findByLabelText(/Parameters in full/);
    expect(editor).toHaveProperty("value", '{\n  "path": "x"\n}');
    await user.clear(editor);
    await user.type(editor, '{{"path": "y"}');
    await user.click(screen.getByRole("button", { name: "Try with these" }));
    await waitFor(() =>
      expect(told()).toMatchObject([{ body: { value: { choice: "edit", params: { path: "y" } } } }]),
    );
  });

  test("does nothing with single keys once they are switched off, nor while one types", async () => {
    waiting = [question("typed"), approval("two")];
    const { user } = open("/inbox");
    await user.click(await screen.findByLabelText("Your answer"));
    await user.keyboard("jar");
    expect(screen.getByLabelText("Your answer")).toHaveProperty("value", "jar");
    window.localStorage.setItem("belayer.keys", "false");
    await user.click(screen.getByRole("button", { name: /on two/ }));
    await user.keyboard("a");
    expect(told()).toEqual([]);
  });
});

describe("the inbox", () => {
  test("shows what a call would change, in its exact parameters", async () => {
    waiting = [approval("one", { risk: "high", why: "the rule is: ask effect write" })];
    open("/inbox");
    await screen.findByText("+new");
    screen.getByText(/"path": "one"/);
    screen.getByText("the rule is: ask effect write");
    expect(screen.getAllByText("high risk").length).toBeGreaterThan(0);
  });

  test("remembers for the session when that is offered", async () => {
    waiting = [approval("one", { offers: { verdict: "allow", tool: "files.write" } })];
    const { user } = open("/inbox");
    await user.click(await screen.findByRole("button", { name: "Always in this session" }));
    await waitFor(() => expect(told()).toMatchObject([{ body: { remember: "session" } }]));
  });

  test("shows a script line by line, with all that comes with it", async () => {
    const params = { source: "const a = 1;\nreturn a;", language: "javascript", tools: ["files.*"] };
    waiting = [approval("one", { shown: { tool: "code", params, effect: "read", preview: null } })];
    open("/inbox");
    await screen.findByText("Runs this script");
    expect(document.querySelectorAll("[data-line]")).toHaveLength(2);
    screen.getByText("tools");
    screen.getByText("The same as it is recorded");
  });

  test("does not approve what is too large to be shown before somebody looked", async () => {
    waiting = [approval("one", { shown: null, aside: { shown: { digest: "abc", bytes: 99_000 } } })];
    const { user } = open("/inbox");
    await shown("on one");
    await user.keyboard("a");
    expect(screen.getByRole("button", { name: "Approve" })).toHaveProperty("disabled", true);
    expect(told()).toEqual([]);
  });

  test("brings a request back, with what was typed, when the server refuses the answer", async () => {
    waiting = [question("refused")];
    refusal = {
      status: 422,
      body: { detail: "This does not answer the question.", hint: "Answer with a text." },
    };
    const { user } = open("/inbox");
    await user.type(await screen.findByLabelText("Your answer"), "forty-two{Enter}");
    await screen.findByText("This does not answer the question.");
    expect(await screen.findByLabelText("Your answer")).toHaveProperty("value", "forty-two");
  });

  test("says in a form which field is missing, and sends the types that the schema asks for", async () => {
    const form = { properties: { name: { type: "string" }, age: { type: "integer" } }, required: ["name"] };
    waiting = [question("q1", { kind: "form", form })];
    const { user } = open("/inbox");
    await user.type(await screen.findByLabelText("age"), "36");
    await user.click(screen.getByRole("button", { name: "Answer" }));
    screen.getByText("This is required.");
    await user.type(screen.getByLabelText(/name/), "Ada");
    await user.click(screen.getByRole("button", { name: "Answer" }));
    await waitFor(() => expect(told()).toMatchObject([{ body: { value: { name: "Ada", age: 36 } } }]));
  });

  test("shows how many wait in the title and in the navigation", async () => {
    waiting = [question("q1"), question("q2")];
    open("/inbox");
    await waitFor(() => expect(document.title).toBe("(2) Belayer"));
    within(screen.getByRole("navigation")).getByText("2");
  });

  test("notifies only once somebody wants it, and only while the page is not looked at", async () => {
    const shown: string[] = [];
    class TestNotification {
      static permission = "default";
      static requestPermission = async () => {
        TestNotification.permission = "granted";
      };
      constructor(_: string, { body }: { body: string }) {
        shown.push(body);
      }
    }
    vi.stubGlobal("Notification", TestNotification);
    vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    waiting = [question("q1")];
    const { user } = open("/inbox");
    const button = await screen.findByRole("button", { name: "Notify me" });
    await screen.findByLabelText("Your answer");
    await user.click(button);
    await screen.findByRole("button", { name: "Notifying", pressed: true });
    waiting = [...waiting, question("q2")];
    await waitFor(() => expect(shown).toEqual(["Question q2?"]), { timeout: 5_000 });
  });

  test("shows hidden letters by their numbers", async () => {
    waiting = [approval("one", { title: "delete \u202etxt.exe" })];
    open("/inbox");
    expect((await screen.findAllByText(/delete <U\+202E>txt\.exe/)).length).toBeGreaterThan(0);
  });

  test("says what to do when the token is missing", async () => {
    serveRoutes({
      "GET /api/inbox": () => ({ status: 401, body: { detail: "The token is missing or wrong." } }),
    });
    open("/inbox");
    await screen.findByText(/Open the link that `belayer serve` printed/);
  });
});
