/** Requests to the server, one function each; whatever fails is a ProblemError. */
import { ProblemError, problemOf, unreachable } from "./problem";
import type {
  CodeGraph,
  Command,
  Dependencies,
  Direction,
  Endpoints,
  Envelope,
  EventsPage,
  Generating,
  Impact,
  Level,
  MetricsSummary,
  Mode,
  Modules,
  Neighbours,
  Pending,
  Policy,
  Repository,
  RewindPreview,
  Rule,
  SessionDetail,
  SessionsPage,
  SessionView,
  StartBody,
  Started,
  Status,
  Suggestions,
  Sureness,
  Symbols,
  ToolView,
  TrialResult,
} from "./types";

const PATIENCE = 30_000;

export type Wanted = {
  status?: readonly Status[];
  mode?: Mode;
  workflow?: string;
  q?: string;
  limit?: number;
  cursor?: string;
};

export const inbox = async () => (await ask<{ requests: Pending[] }>("GET", "/api/inbox")).requests;
export const tools = async () => (await ask<{ tools: ToolView[] }>("GET", "/api/tools")).tools;
export const metrics = () => ask<MetricsSummary>("GET", "/api/metrics/summary");
export const policy = () => ask<Policy>("GET", "/api/policy");
export const savePolicy = (rules: readonly Rule[]) => ask<Policy>("PUT", "/api/policy", { rules });
export const suggestions = () => ask<Suggestions>("GET", "/api/policy/suggestions");
/** What a rule would have meant for the calls of the past; nothing is saved. */
export const tryRule = (rule: Rule) => ask<TrialResult>("POST", "/api/policy/try", { rule });
export const start = (body: StartBody) => ask<Started>("POST", "/api/execution/start", body);

export function sessions(wanted: Wanted): Promise<SessionsPage> {
  const query = new URLSearchParams();
  for (const status of wanted.status ?? []) query.append("status", status);
  if (wanted.mode) query.set("mode", wanted.mode);
  if (wanted.workflow) query.set("workflow", wanted.workflow);
  if (wanted.q) query.set("q", wanted.q);
  if (wanted.limit) query.set("limit", String(wanted.limit));
  if (wanted.cursor) query.set("cursor", wanted.cursor);
  return ask("GET", `/api/execution/sessions?${query}`);
}

/** The session as it is now; of its events only the first, for they are paged apart. */
export const session = (id: string) => ask<SessionDetail>("GET", `${at(id)}?limit=1`);

/** The events after `after` up to and with `upTo`, oldest first. */
export async function events(id: string, after: number, upTo: number): Promise<Envelope[]> {
  if (upTo <= after) return [];
  return (await ask<EventsPage>("GET", `${at(id)}/events?after=${after}&limit=${upTo - after}`)).events;
}

export const makeCheckpoint = (id: string, name: string) =>
  ask<SessionView>("POST", `${at(id)}/checkpoints`, { name });
export const rewindPreview = async (id: string, seq: number) =>
  (await ask<RewindPreview>("GET", `${at(id)}/rewind?seq=${seq}`)).changes;
export const rewind = (id: string, seq: number, files: boolean) =>
  ask<SessionView>("POST", `${at(id)}/rewind`, { seq, files });
export const fork = (id: string, seq: number) => ask<Started>("POST", `${at(id)}/fork`, { seq });
export const artifactPath = (id: string, name: string) => `${at(id)}/artifacts/${encodeURIComponent(name)}`;
export const exportPath = (id: string) => `${at(id)}/export`;

/** Tell a session something; the answer is the session after it. */
export function tell(id: string, command: Command): Promise<SessionView> {
  const route = command.type === "user_response" ? "respond" : command.type;
  return ask("POST", `${at(id)}/${route}`, command.data);
}

/** A payload that was too large for its event, from the session's file. */
export async function aside(id: string, digest: string): Promise<unknown> {
  const file = await ask<{ blobs?: Record<string, string> }>("GET", exportPath(id));
  const blob = file.blobs?.[digest];
  if (blob === undefined) {
    throw new ProblemError({
      type: "Gone",
      status: 404,
      detail: "The server no longer has this payload.",
      hint: "It may have been pruned; the session's log still has its digest.",
    });
  }
  const bytes = Uint8Array.from(atob(blob), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

/** Fetch a repository and build its graph, in a session. */
export const generate = (repo_url: string) => ask<Generating>("POST", "/clone-and-generate", { repo_url });
export const repos = async () => (await ask<{ repos: Repository[] }>("GET", "/api/repos")).repos;
export const repo = (id: string) => ask<Repository>("GET", repoPath(id));

/** What a repository's graph is asked, by the name of the question. */
export type Questions = {
  graph: { level: Level; limit: number; least?: Sureness };
  modules: { tag?: string; q?: string; limit: number; after?: string };
  symbols: { q: string; limit: number };
  endpoints: { path?: string; limit: number };
  neighbours: { node: string; least: Sureness; limit: number };
  dependencies: { module: string; least: Sureness; limit: number };
  impact: { module: string; depth: number; direction: Direction; least: Sureness; limit: number };
};
export type GraphAnswers = {
  graph: CodeGraph;
  modules: Modules;
  symbols: Symbols;
  endpoints: Endpoints;
  neighbours: Neighbours;
  dependencies: Dependencies;
  impact: Impact;
};

export const askGraph = <Name extends keyof Questions>(id: string, name: Name, given: Questions[Name]) =>
  ask<GraphAnswers[Name]>("GET", graphPath(id, name, given));

/** Where the answer is; with a format, as a drawing to keep. */
export function graphPath<Name extends keyof Questions>(
  id: string,
  name: Name,
  given: Questions[Name],
  format?: "dot" | "mermaid",
): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...given, format })) {
    if (value !== undefined && value !== "") query.set(key, String(value));
  }
  return `${repoPath(id)}/${name}?${query}`;
}

const repoPath = (id: string) => `/api/repos/${encodeURIComponent(id)}`;
const at = (id: string) => `/api/execution/sessions/${encodeURIComponent(id)}`;

async function ask<Answer>(method: "GET" | "POST" | "PUT", path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(path, {
    method,
    headers: {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: "same-origin",
    signal: AbortSignal.timeout(PATIENCE),
  }).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw await problemOf(response);
  return response.json().catch(() => {
    throw unreachable();
  });
}
