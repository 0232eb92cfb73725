/** Short names for the generated wire types, and the frames that pass by without being kept. */
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Envelope = Schemas["EventsPage"]["events"][number];
export type EnvelopeOf<Type extends Envelope["type"]> = Extract<Envelope, { type: Type }>;
export type EventsPage = Schemas["EventsPage"];
export type SessionView = Schemas["SessionView"];
export type SessionDetail = Schemas["SessionDetail"];
export type SessionListed = Schemas["SessionListed"];
export type SessionsPage = Schemas["SessionsPage"];
export type Started = Schemas["Started"];
export type StartBody = Schemas["StartBody"];
export type Status = Schemas["Status"];
export type StepStatus = Schemas["StepStatus"];
export type Mode = Schemas["Mode"];
export type Step = Schemas["Step"];
export type StepAhead = Schemas["StepAhead"];
export type PlannedStep = Schemas["PlannedStep"];
export type Problem = Schemas["Problem"];
export type ProblemDetails = Schemas["ProblemDetails"];
export type Budget = Schemas["Budget"];
export type Usage = Schemas["Usage"];
export type Rule = Schemas["Rule"];
export type Artifact = Schemas["Artifact"];
export type CheckpointListed = Schemas["CheckpointListed"];
export type RewindPreview = Schemas["RewindPreview"];
export type FileChange = Schemas["FileChange"];
export type Effect = Schemas["Effect"];
export type ToolView = Schemas["ToolView"];
export type ToolSummary = Schemas["ToolSummary"];
export type MetricsSummary = Schemas["MetricsSummary"];
export type Policy = Schemas["Policy"];
export type TrialResult = Schemas["TrialResult"];
export type Suggestions = Schemas["Suggestions"];
export type Repository = Schemas["Repository"];
export type Generating = Schemas["Generating"];
export type CodeGraph = Schemas["Graph"];
export type CodeSymbol = Schemas["Symbol"];
export type CodeLink = Schemas["Link"];
export type CodeModule = Schemas["Module"];
export type Modules = Schemas["Modules"];
export type Endpoint = Schemas["Endpoint"];
export type Endpoints = Schemas["Endpoints"];
export type Impact = Schemas["Impact"];
export type Neighbours = Schemas["Neighbours"];
export type Dependencies = Schemas["Dependencies"];
export type ModuleLink = Schemas["ModuleLink"];
export type Use = Schemas["Use"];
export type Risk = Impact["risk"];
export type Symbols = Schemas["Symbols"];
export type Sureness = CodeLink["confidence"];
export type Level = CodeGraph["level"];
export type Direction = Impact["direction"];

/** The schema has the type as a default, so a generated type cannot rely on it; the server always sends it. */
export type InputRequest = Schemas["InputRequested"] & { type: "request_input" };
export type ApprovalRequest = Schemas["ApprovalRequested"] & { type: "approval_request" };
export type PersonRequest = InputRequest | ApprovalRequest;
export type Pending = Omit<Schemas["Pending"], "request"> & { request: PersonRequest };

/** What a person may tell a session, over the socket or over REST. */
export type Command =
  | { type: "user_response"; data: Schemas["RespondBody"] }
  | { type: "approve"; data: Schemas["ApproveBody"] }
  | { type: "reject"; data: Schemas["RejectBody"] }
  | { type: "message"; data: Schemas["MessageBody"] }
  | { type: "pause"; data: Partial<Schemas["PauseBody"]> }
  | { type: "resume" | "interrupt" | "cancel"; data: Schemas["StopBody"] };

/** Frames without a seq: a client that misses them loses nothing. They are not in the REST schema. */
export type Eta = {
  low: number | null;
  mid: number | null;
  high: number | null;
  confidence: number | string;
};
export type PlanProgress = { percent: number; step: number; of: number; eta?: Eta; early?: string };
export type StepProgress = { percent: number; text?: string; key: string };
type Passing<Type extends string, Data> = { seq: null; after: number; type: Type; data: Data };
export type PassingFrame =
  | Passing<"token", { message?: string; text?: string }>
  | Passing<"snapshot", { messages: Record<string, string> }>
  | Passing<"progress", PlanProgress | StepProgress>
  | Passing<"log", { text: string; step?: string }>;
export type Frame = Envelope | PassingFrame;
