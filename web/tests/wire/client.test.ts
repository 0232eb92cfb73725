import { afterEach, describe, expect, test, vi } from "vitest";
import * as client from "@/wire/client";
import { asProblem } from "@/wire/problem";
import { serveRoutes } from "../support/server";

afterEach(() => vi.unstubAllGlobals());

const refused = {
  type: "urn:belayer:problem:TooManySessions",
  title: "Too many sessions",
  status: 429,
  detail: "5 sessions are live.",
  category: "resource",
  hint: "Wait for one to end.",
  errors: [{ place: "plan.steps.0.tool", what: "there is no tool nope" }],
};

describe("the client", () => {
  test("makes a problem of the server an error with all it says", async () => {
    serveRoutes({
      "POST /api/execution/start": () => ({ status: 429, body: refused, headers: { "Retry-After": "7" } }),
    });
    await expect(client.start({})).rejects.toMatchObject({
      kind: "TooManySessions",
      status: 429,
      detail: "5 sessions are live.",
      hint: "Wait for one to end.",
      places: [{ place: "plan.steps.0.tool", what: "there is no tool nope" }],
      retryAfter: 7,
    });
  });

  test("says so when the server cannot be reached", async () => {
    serveRoutes({});
    await expect(client.inbox()).rejects.toMatchObject({ isUnreachable: true });
  });

  test("makes a problem of an answer that is none", async () => {
    serveRoutes({ "GET /api/inbox": () => ({ status: 502, body: "<html>" }) });
    await expect(client.inbox()).rejects.toMatchObject({ status: 502, kind: "Unexplained" });
  });

  test("asks for nothing when no event is wanted", async () => {
    const asked = serveRoutes({});
    await expect(client.events("s", 7, 7)).resolves.toEqual([]);
    expect(asked).toEqual([]);
  });

  test("keeps an id from naming another address", async () => {
    const asked = serveRoutes({ "GET /api/execution/sessions/..%2F..%2Finbox": () => ({ body: {} }) });
    await client.session("../../inbox");
    expect(asked[0]?.path).toMatch("..%2F..%2Finbox");
  });

  test("finds a payload that lies apart in the session's file", async () => {
    const blob = btoa(String.fromCharCode(...new TextEncoder().encode('"snow ☃"')));
    serveRoutes({ "GET /api/execution/sessions/s/export": () => ({ body: { blobs: { abc: blob } } }) });
    await expect(client.aside("s", "abc")).resolves.toBe("snow ☃");
    await expect(client.aside("s", "other")).rejects.toMatchObject({ kind: "Gone" });
  });

  test("sends an answer to the route that takes it", async () => {
    const asked = serveRoutes({ "POST /api/execution/sessions/s/respond": () => ({ body: {} }) });
    await client.tell("s", { type: "user_response", data: { request_id: "r", value: [1] } });
    expect(asked).toMatchObject([{ method: "POST", body: { request_id: "r", value: [1] } }]);
  });
});

test("an error of the page itself is a problem too", () => {
  expect(asProblem(new Error("boom")).detail).toMatch("boom");
});
