/** Rules as a person writes them down and puts them in order. Pure; the first that fits decides, but a deny anywhere wins. */
import type { Rule } from "@/wire/types";

/** What differs between the rules that hold and those that are to hold. */
export type Changes = { added: Rule[]; raised: Rule[]; removed: Rule[] };

/** `raised`: those that now come before a rule that came before them. */
export function changesOf(saved: readonly Rule[], wanted: readonly Rule[]): Changes {
  const before = saved.map(nameOf);
  const after = wanted.map(nameOf);
  const overtakes = (name: string, place: number) => {
    const passed = before.slice(0, before.indexOf(name));
    return passed.some((other) => after.indexOf(other) > place);
  };
  return {
    added: wanted.filter((rule) => !before.includes(nameOf(rule))),
    raised: wanted.filter((rule, place) => before.includes(nameOf(rule)) && overtakes(nameOf(rule), place)),
    removed: saved.filter((rule) => !after.includes(nameOf(rule))),
  };
}

export const areSame = (one: readonly Rule[], other: readonly Rule[]) =>
  one.length === other.length && one.every((rule, place) => nameOf(rule) === nameOf(other[place] ?? rule));

export function movedTo(rules: readonly Rule[], from: number, to: number): Rule[] {
  const rest = rules.toSpliced(from, 1);
  const rule = rules[from];
  return rule === undefined ? rest : rest.toSpliced(to, 0, rule);
}

/** A rule has no name but what it says. */
export function nameOf(rule: Rule): string {
  return JSON.stringify(FIELDS.map((field) => rule[field] ?? null));
}

const FIELDS = ["verdict", "tool", "effect", "path", "host", "risk", "usd", "note"] as const;

/** A rule while it is typed. */
export type RuleDraft = Record<(typeof FIELDS)[number], string>;
export type Wrong = Partial<Record<keyof RuleDraft, string>>;

export function draftOf(rule: Rule | null): RuleDraft {
  const text = (field: keyof RuleDraft) => String(rule?.[field] ?? "");
  return Object.fromEntries(
    FIELDS.map((field) => [field, field === "verdict" ? text(field) || "ask" : text(field)]),
  ) as RuleDraft;
}

/** The rule that was typed, or what is wrong with it; the server has the last word. */
export function readRule(draft: RuleDraft): { rule: Rule; wrong: Wrong } {
  const given = (field: keyof RuleDraft) => draft[field].trim() || undefined;
  const rule: Rule = {
    verdict: draft.verdict as Rule["verdict"],
    tool: given("tool"),
    effect: given("effect"),
    path: given("path"),
    host: given("host"),
    risk: given("risk") as Rule["risk"],
    usd: given("usd") === undefined ? undefined : Number(draft.usd),
    note: given("note"),
  };
  return { rule, wrong: wrongWith(rule) };
}

function wrongWith({ tool, effect, path, host, risk, usd }: Rule): Wrong {
  const wrong: Wrong = {};
  if ([tool, effect, path, host, risk, usd].every((part) => part === undefined))
    wrong.tool = "Say which calls it is about: at least one of tool, effect, path, host, risk or cost.";
  if (path && (path.startsWith("/") || path.split("/").includes("..")))
    wrong.path = "A path is relative to the workspace and leads nowhere else, such as docs/**.";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not ASCII is what it looks for
  if (host && /[^\x00-\x7f]/.test(host))
    wrong.host = "A host is written as it goes over the wire: xn--… for other alphabets.";
  if (usd != null && (!Number.isFinite(usd) || usd < 0)) wrong.usd = "This must be a number from zero on.";
  return wrong;
}
