/** Scripts and their calls: whose call it is, and which lines of the script name what is called. Pure. */

export type Script = { text: string; language: "javascript" | "python" };
export type ScriptCall = { step: string; number: number };

/** The call that a key belongs to: the third of it's script, for it/script/3 and #gate/it/script/3/1. */
export function callOf(key: string): ScriptCall | null {
  const found = /^(?:#\w+\/)?([^/]+)\/script\/(\d+)(?:\/|$)/.exec(key);
  return found ? { step: found[1] ?? "", number: Number(found[2]) } : null;
}

/** The scripts of a plan, by the step that runs each. A step that was changed and tried again is none of the plan's. */
export function scriptsOf(input: unknown): ReadonlyMap<string, Script> {
  const steps = member(member(input, "plan"), "steps");
  const all = Array.isArray(steps) ? steps : [];
  return new Map(
    all.flatMap((step) => {
      const [id, script] = [member(step, "id"), readScript(member(step, "params"))];
      return member(step, "tool") === "code" && typeof id === "string" && script ? [[id, script]] : [];
    }),
  );
}

export function readScript(params: unknown): Script | null {
  const [text, language] = [member(params, "source"), member(params, "language")];
  if (typeof text !== "string") return null;
  return { text, language: language === "python" ? "python" : "javascript" };
}

/** The lines that name a tool in full, counted from 1. */
export function linesNaming({ text }: Script, tool: string): number[] {
  const name = new RegExp(`${tool.split(/\W/).map(escaped).join("\\s*\\.\\s*")}(?!\\w)`);
  return linesWith(text, name);
}

/** The line of a call where only one can be meant: nothing else in the script has even the tool's last name. */
export function lineOf(script: Script, tool: string): number | null {
  const [line, ...more] = linesNaming(script, tool);
  const last = tool.split(/\W/).at(-1) ?? tool;
  const named = linesWith(script.text, new RegExp(`(?<!\\w)${escaped(last)}(?!\\w)`));
  return line !== undefined && more.length === 0 && named.length === 1 ? line : null;
}

function linesWith(text: string, name: RegExp): number[] {
  return text.split("\n").flatMap((line, place) => (name.test(line) ? [place + 1] : []));
}

const escaped = (word: string) => word.replace(/[^\w]/g, "\\$&");

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
