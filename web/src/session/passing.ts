/** What passes by and is not kept: words being written, lines of output, how far it is. Pure. */
import type { Envelope, PassingFrame, PlanProgress, StepProgress } from "@/wire/types";

export type Passing = {
  writing: ReadonlyMap<string, string>;
  output: ReadonlyMap<string, Printed>;
  plan: PlanProgress | null;
  steps: ReadonlyMap<string, StepProgress>;
};

/** The last lines that a step printed, and how many came before them. */
export type Printed = { before: number; lines: readonly string[] };

export const NOTHING_PASSING: Passing = {
  writing: new Map(),
  output: new Map(),
  plan: null,
  steps: new Map(),
};

const MOST_LETTERS = 100_000;
const MOST_LINES = 2_000;
const NOTHING_PRINTED: Printed = { before: 0, lines: [] };

export function withFrame(passing: Passing, frame: PassingFrame): Passing {
  switch (frame.type) {
    case "token": {
      const { message = "", text = "" } = frame.data;
      const written = (passing.writing.get(message) ?? "") + text;
      return { ...passing, writing: put(passing.writing, message, written.slice(-MOST_LETTERS)) };
    }
    case "snapshot":
      return { ...passing, writing: new Map(Object.entries(frame.data.messages)) };
    case "log": {
      const { step = "", text } = frame.data;
      const printed = withLines(passing.output.get(step) ?? NOTHING_PRINTED, text.split("\n"));
      return { ...passing, output: put(passing.output, step, printed) };
    }
    case "progress":
      if ("key" in frame.data) return { ...passing, steps: put(passing.steps, frame.data.key, frame.data) };
      return { ...passing, plan: frame.data };
    default:
      frame satisfies never;
      return passing;
  }
}

/** A durable event has the whole of what its frames were a part of. */
export function withoutTold(passing: Passing, event: Envelope): Passing {
  if (event.type === "session") return event.data.status === "running" ? passing : NOTHING_PASSING;
  if (event.type !== "step" || event.data.status === "running") return passing;
  return {
    ...passing,
    writing: drop(passing.writing, event.data.key),
    output: drop(passing.output, event.data.key),
    steps: drop(passing.steps, event.data.key),
  };
}

function withLines({ before, lines }: Printed, more: readonly string[]): Printed {
  const all = [...lines, ...more];
  const dropped = Math.max(0, all.length - MOST_LINES);
  return { before: before + dropped, lines: all.slice(dropped) };
}

function put<Value>(map: ReadonlyMap<string, Value>, key: string, value: Value): ReadonlyMap<string, Value> {
  return new Map(map).set(key, value);
}

function drop<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
