/** What somebody typed or dropped into the start dialog, as the body of a request. */
import type { Mode, StartBody } from "@/wire/types";

export type Draft = {
  what: "plan" | "workflow";
  plan: string;
  inputs: string;
  workflow: string;
  input: string;
  title: string;
  workspace: string;
  mode: Mode;
  steps: string;
  seconds: string;
  tokens: string;
  usd: string;
};

export const EMPTY: Draft = {
  what: "plan",
  plan: "",
  inputs: "",
  workflow: "",
  input: "",
  title: "",
  workspace: "",
  mode: "hitl",
  steps: "",
  seconds: "",
  tokens: "",
  usd: "",
};

/** Something in the draft that cannot be read; `place` is the field. */
export class UnfitDraft extends Error {
  constructor(
    readonly place: string,
    what: string,
  ) {
    super(what);
  }
}

/** The body that the draft asks for; UnfitDraft where it cannot be read. The server checks what it means. */
export async function bodyOf(draft: Draft): Promise<StartBody> {
  const shared: StartBody = {
    mode: draft.mode,
    title: draft.title.trim() || undefined,
    workspace: draft.workspace.trim() || undefined,
    budget: budgetOf(draft),
  };
  if (draft.what === "workflow") {
    if (!draft.workflow.trim()) throw new UnfitDraft("workflow", "Say which workflow to start.");
    return { ...shared, workflow: draft.workflow.trim(), input: await object("input", draft.input) };
  }
  const plan = await object("plan", draft.plan);
  if (plan === undefined) throw new UnfitDraft("plan", "Paste a plan, or choose a file.");
  return { ...shared, plan, inputs: await object("inputs", draft.inputs) };
}

/** JSON or YAML; the parser for YAML is only loaded when somebody needs it. */
async function object(place: string, text: string): Promise<Record<string, unknown> | undefined> {
  if (!text.trim()) return undefined;
  const value = await parsed(place, text);
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new UnfitDraft(place, "This must be an object with names and values, not a list or a single value.");
}

async function parsed(place: string, text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    const { parse } = await import("yaml");
    try {
      return parse(text, { maxAliasCount: 100, schema: "core" });
    } catch (error) {
      throw new UnfitDraft(
        place,
        `This is neither JSON nor YAML: ${error instanceof Error ? error.message : error}`,
      );
    }
  }
}

function budgetOf(draft: Draft): StartBody["budget"] {
  return {
    steps: amount("steps", draft.steps),
    seconds: amount("seconds", draft.seconds),
    tokens: amount("tokens", draft.tokens),
    usd: amount("usd", draft.usd),
  };
}

function amount(place: string, text: string): number | undefined {
  if (!text.trim()) return undefined;
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new UnfitDraft(place, "This must be a number above zero.");
  return value;
}
