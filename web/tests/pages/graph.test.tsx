import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { FromWorker, ToWorker } from "@/panels/graph/drawing/messages";
import { sceneOf } from "@/panels/graph/drawing/scene";
import type { Repository } from "@/wire/types";
import { begun, event, SESSION } from "../support/events";
import { graph, impact, link, REPO, symbol } from "../support/graphs";
import { open } from "../support/page";
import { type Asked, serveRoutes, serveSockets, TestSocket } from "../support/server";
import { viewOf } from "../support/view";

const CART = symbol("src/cart.py");
const ADD = symbol("src/cart.py::Cart.add", "method");
const PUT = symbol("src/api.py::put_item", "function");
const TEST = symbol("tests/test_cart.py::test_add", "function");
const SCENE = graph(
  [CART, symbol("src/api.py"), symbol("tests/test_cart.py")],
  [link("src/api.py", "src/cart.py"), link("tests/test_cart.py", "src/cart.py")],
);
const NEIGHBOURS = {
  center: ADD,
  nodes: [ADD, PUT, TEST],
  links: [link(PUT.id, ADD.id, { confidence: "inferred" }), link(TEST.id, ADD.id, { relation: "tests" })],
  truncated: false,
};
const IMPACT = impact({
  targets: [ADD],
  tests: [
    {
      symbol: TEST,
      depth: 2,
      confidence: "resolved",
      reaches: 1,
      is_named_after: true,
      score: 6.5,
      reasons: [{ factor: "distance", points: 4.1, text: "It calls it through one other." }],
      why: [link(TEST.id, PUT.id), link(PUT.id, ADD.id)],
    },
  ],
  symbols: [{ symbol: PUT, depth: 1, confidence: "inferred", why: [link(PUT.id, ADD.id)] }],
  risk: {
    score: 41,
    level: "medium",
    reasons: [{ factor: "fan_in", value: 6, points: 11.2, text: "6 things refer to it directly." }],
  },
});
const at = `/api/repos/${REPO.id}`;
const page = `/graph/${REPO.id}`;
let repos: Repository[];
let asked: Asked[];
let told: ToWorker[];

/** Stands where the worker is: it lays out the same scene, and paints nothing. */
class TestWorker {
  onmessage: ((message: { data: FromWorker }) => void) | null = null;
  postMessage(message: ToWorker): void {
    told.push(message);
    if (message.type !== "load") return;
    queueMicrotask(() => this.onmessage?.({ data: { type: "loaded", scene: sceneOf(SCENE) } }));
  }
  terminate(): void {}
}

function serveDrawing(): void {
  vi.stubGlobal("Worker", TestWorker);
  vi.stubGlobal("OffscreenCanvas", class {});
  Object.assign(HTMLCanvasElement.prototype, { transferControlToOffscreen: () => ({}) });
}

/** They are loaded when first needed; no test should have to wait for that. */
beforeAll(async () => {
  await Promise.all([
    import("@/pages/graph/GraphPage"),
    import("@/pages/graph/GraphsPage"),
    import("@/panels/graph/drawing/Drawing"),
  ]);
});

beforeEach(() => {
  repos = [REPO];
  told = [];
  serveDrawing();
  serveSockets();
  asked = serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    "GET /api/execution/sessions": () => ({ body: { sessions: [], next: null } }),
    "GET /api/repos": () => ({ body: { repos } }),
    [`GET ${at}`]: () => ({ body: REPO }),
    [`GET ${at}/modules`]: () => ({
      body: {
        modules: [
          {
            path: "src/cart.py",
            name: "cart",
            language: "python",
            tags: ["shop"],
            lines: 120,
            symbols: 14,
            dependents: 6,
            dependencies: 1,
            is_broken: true,
          },
        ],
        total: 1,
        tags: { shop: 1 },
        after: null,
      },
    }),
    [`GET ${at}/symbols`]: () => ({
      body: {
        symbols: [
          { symbol: PUT, fit: "prefix" },
          { symbol: ADD, fit: "parts" },
        ],
        total: 2,
        truncated: false,
      },
    }),
    [`GET ${at}/neighbours`]: ({ path }) =>
      path.includes("nothing")
        ? { status: 404, body: { detail: "Nothing is called nothing.", hint: "Did you mean something?" } }
        : { body: NEIGHBOURS },
    [`GET ${at}/impact`]: () => ({ body: IMPACT }),
    [`GET ${at}/endpoints`]: ({ path }) => ({
      body: path.includes("nowhere")
        ? { endpoints: [], total: 0, truncated: false }
        : {
            endpoints: [
              {
                id: "src/api.py::POST /items",
                method: "POST",
                route: "/items",
                framework: "fastapi",
                path: "src/api.py",
                line: 27,
                handler: PUT,
              },
            ],
            total: 1,
            truncated: false,
          },
    }),
    [`GET ${at}/dependencies`]: () => ({
      body: {
        target: ADD,
        imports: [],
        imported_by: [
          {
            path: "src/api.py",
            name: "api",
            confidence: "resolved",
            references: 4,
            relations: { calls: 3, imports: 1 },
          },
        ],
        callees: [],
        callers: [{ inner: ADD, outer: PUT, link: link(PUT.id, ADD.id) }],
        truncated: false,
      },
    }),
    "POST /clone-and-generate": () => ({
      status: 202,
      body: { session_id: SESSION, repo_id: REPO.id, status: "queued" },
    }),
    [`GET /api/execution/sessions/${SESSION}`]: () => ({
      body: { ...viewOf([begun()]), artifacts: [], events: [] },
    }),
    [`GET /api/execution/sessions/${SESSION}/events`]: () => ({ body: { events: [begun()], next: null } }),
  });
});

afterEach(() => vi.unstubAllGlobals());

const questions = (name: string) =>
  asked
    .map(({ path }) => new URL(path, "http://here"))
    .filter((url) => url.pathname === `${at}/${name}`)
    .map((url) => Object.fromEntries(url.searchParams));
const shown = () => told.flatMap((message) => (message.type === "show" ? [message.shown] : []));

describe("the repositories", () => {
  test("are listed with their commit and their size", async () => {
    open("/graph");
    const line = await screen.findByRole("link", { name: /shop/ });
    expect(line.textContent).toContain("aaaaaaaaaa");
    expect(line.textContent).toContain("3 files");
    expect(line.getAttribute("href")).toBe(page);
  });

  test("say so when there is none", async () => {
    repos = [];
    open("/graph");
    await screen.findByText("No repository has been read yet");
  });

  test("are built on request, with what it does in words, and opened when done", async () => {
    const { user, history } = open("/graph");
    await user.type(await screen.findByLabelText("Address or folder"), "https://git.test/shop.git{Enter}");
    await screen.findByRole("region", { name: "Building" });
    expect(history.location.search).toContain(SESSION);
    expect(asked.find(({ method }) => method === "POST")?.body).toEqual({
      repo_url: "https://git.test/shop.git",
    });
    TestSocket.last.accept();
    TestSocket.last.say(event(2, "session", { status: "running", epoch: 1 }));
    TestSocket.last.say({
      seq: null,
      after: 2,
      type: "progress",
      data: { key: "build", percent: 40, text: "link" },
    });
    await screen.findByText("Linking names… 40 %");
    TestSocket.last.say(event(3, "session", { status: "completed", result: { repo_id: REPO.id } }));
    await waitFor(() => expect(history.location.pathname).toBe(page));
  });

  test("say why an address is refused", async () => {
    serveRoutes({
      "GET /api/repos": () => ({ body: { repos: [] } }),
      "POST /clone-and-generate": () => ({
        status: 422,
        body: { detail: "ext:: is no address.", hint: "Use https." },
      }),
    });
    const { user } = open("/graph");
    await user.type(await screen.findByLabelText("Address or folder"), "ext::sh{Enter}");
    await screen.findByText("ext:: is no address.");
    screen.getByText("Use https.");
  });
});

describe("a repository", () => {
  test("has a map, and the same as a list", async () => {
    open(page);
    await screen.findByRole("region", { name: "Map of shop: 3 modules, 2 links" });
    const list = await screen.findByRole("list", { name: "Modules" });
    expect(list.textContent).toContain("14 symbols · needed by 6 · needs 1 · 120 lines");
    within(list).getByText("not read whole");
    expect(within(screen.getByRole("list", { name: "Legend" })).getAllByRole("listitem")).toHaveLength(3);
  });

  test("is there without its map where a browser cannot draw", async () => {
    vi.stubGlobal("OffscreenCanvas", undefined);
    Reflect.deleteProperty(window, "OffscreenCanvas");
    open(page);
    await screen.findByText("This browser cannot draw the map.");
    await screen.findByRole("list", { name: "Modules" });
  });

  test("finds a symbol by keyboard alone", async () => {
    const { user, history } = open(page);
    await screen.findByRole("region", { name: /Map of shop/ });
    await user.keyboard("/");
    const field = screen.getByRole("combobox", { name: "Search a symbol" });
    expect(document.activeElement).toBe(field);
    await user.keyboard("add");
    await screen.findByRole("option", { name: /Cart\.add/ });
    await user.keyboard("{ArrowDown}{Enter}");
    await screen.findByRole("heading", { name: "Cart.add" });
    expect(new URLSearchParams(history.location.search).get("node")).toBe(ADD.id);
    expect(questions("symbols").at(-1)).toEqual({ q: "add", limit: "12" });
  });

  test("shows what is around a node, by what it is to it", async () => {
    const { user } = open(`${page}?node=${encodeURIComponent(ADD.id)}`);
    const callers = within(await screen.findByRole("region", { name: "Called by" }));
    callers.getByText("inferred");
    within(screen.getByRole("region", { name: "Tested by" })).getByText("test_add");
    await user.click(screen.getByRole("tab", { name: "Dependencies" }));
    within(await screen.findByRole("region", { name: "Needed by modules" })).getByText("src/api.py");
  });

  test("asks again when links have to be surer", async () => {
    const { user, history } = open(`${page}?node=${encodeURIComponent(ADD.id)}`);
    await screen.findByRole("region", { name: "Called by" });
    await user.selectOptions(screen.getByLabelText("How sure a link has to be"), "Resolved only");
    await waitFor(() => expect(questions("neighbours").at(-1)?.least).toBe("resolved"));
    expect(history.location.search).toContain("least=resolved");
    await waitFor(() => expect(shown().at(-1)?.least).toBe(2));
  });

  test("restores a blast radius from a link, with the reason for each hit", async () => {
    const { user, history } = open(
      `${page}?node=${encodeURIComponent(ADD.id)}&tab=blast&depth=5&direction=dependencies&least=inferred`,
    );
    await screen.findByText("medium risk: 41 of 100");
    expect(questions("impact")[0]).toEqual({
      module: ADD.id,
      depth: "5",
      direction: "dependencies",
      least: "inferred",
      limit: "200",
    });
    const tests = within(screen.getByRole("region", { name: "Tests to run" }));
    await user.click(tests.getByText("Why: 2 references"));
    tests.getByText("src/api.py:31");
    await user.click(tests.getAllByRole("button", { name: "put_item" })[0] as HTMLElement);
    await waitFor(() => expect(new URLSearchParams(history.location.search).get("node")).toBe(PUT.id));
    expect(history.location.search).toContain("tab=blast");
  });

  test("draws a blast radius as rings, or on the map", async () => {
    const { user } = open(`${page}?node=${encodeURIComponent(ADD.id)}&tab=blast`);
    await waitFor(() => expect(shown().at(-1)?.rings).toBeTruthy());
    await user.click(screen.getByLabelText("On the map"));
    await waitFor(() => expect(shown().at(-1)?.rings).toBeNull());
    expect(shown().at(-1)?.marks).toBeTruthy();
  });

  test("says so when a link leads to what is not there", async () => {
    open(`${page}?node=nothing`);
    await screen.findByText("Nothing is called nothing.");
    screen.getByText("Did you mean something?");
  });

  test("has its endpoints, by a pattern that stays in the address", async () => {
    const { user, history } = open(page);
    await user.click(await screen.findByRole("tab", { name: "Endpoints" }));
    within(await screen.findByRole("list", { name: "Endpoints" })).getByText("/items");
    await user.type(screen.getByLabelText("Request"), "nowhere");
    await screen.findByText("No endpoint fits");
    await waitFor(() => expect(history.location.search).toContain("path=nowhere"));
  });

  test("can be kept as a drawing of what is looked at", async () => {
    open(`${page}?node=${encodeURIComponent(ADD.id)}&tab=blast&depth=2`);
    const dot = await screen.findByRole("link", { name: "Download as DOT" });
    const address = new URL(dot.getAttribute("href") ?? "", "http://here");
    expect(address.pathname).toBe(`${at}/impact`);
    expect(address.searchParams.get("format")).toBe("dot");
    expect(address.searchParams.get("depth")).toBe("2");
    expect(dot.getAttribute("download")).toBe("shop.dot");
  });
});
