/** A server that stands in for the real one: it answers requests from a table and talks over sockets. */
import { vi } from "vitest";

type Answer = { status?: number; body: unknown; headers?: Record<string, string> };
export type Asked = { method: string; path: string; body: unknown };
type Routes = Record<string, (asked: Asked) => Answer>;

/** Answers `METHOD /path` (the query is left out of the name); remembers what it was asked. */
export function serveRoutes(routes: Routes): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    const body = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const request = { method: init.method ?? "GET", path, body };
    asked.push(request);
    const answer = routes[`${request.method} ${path.split("?", 1)[0]}`];
    if (answer === undefined) throw new TypeError("no route");
    const { status = 200, body: told, headers = {} } = answer(request);
    return new Response(JSON.stringify(told), { status, headers });
  });
  return asked;
}

/** A WebSocket whose other end is in the test's hands. */
export class TestSocket {
  static all: TestSocket[] = [];
  static get last(): TestSocket {
    const socket = TestSocket.all.at(-1);
    if (socket === undefined) throw new Error("nobody has connected");
    return socket;
  }

  onopen: (() => void) | null = null;
  onmessage: ((message: { data: string }) => void) | null = null;
  onclose: ((closed: { code: number }) => void) | null = null;
  isClosed = false;
  readonly sent: { type: string; id: string; data?: unknown }[] = [];

  constructor(readonly url: string) {
    TestSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.isClosed = true;
  }

  accept(): void {
    this.onopen?.();
  }

  say(frame: unknown): void {
    this.onmessage?.({ data: typeof frame === "string" ? frame : JSON.stringify(frame) });
  }

  break(code = 1006): void {
    this.onclose?.({ code });
  }
}

export function serveSockets(): void {
  TestSocket.all = [];
  vi.stubGlobal("WebSocket", TestSocket);
}
