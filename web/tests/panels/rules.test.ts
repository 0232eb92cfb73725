import { describe, expect, test } from "vitest";
import { areSame, changesOf, draftOf, movedTo, readRule } from "@/panels/policy/rules";
import type { Rule } from "@/wire/types";

const [A, B, C]: Rule[] = [
  { verdict: "allow", tool: "a" },
  { verdict: "ask", tool: "b" },
  { verdict: "deny", tool: "c" },
] as const as unknown as Rule[];
const all = [A, B, C] as Rule[];

describe("a change of the rules", () => {
  test("tells what is new, what is asked earlier, and what is gone", () => {
    const fresh: Rule = { verdict: "allow", tool: "d" };
    expect(changesOf(all, [fresh, B as Rule, A as Rule])).toEqual({
      added: [fresh],
      raised: [B],
      removed: [C],
    });
  });

  test("is none when a rule only says null where another says nothing", () => {
    expect(areSame([{ verdict: "allow", tool: "a" }], [{ verdict: "allow", tool: "a", path: null }])).toBe(
      true,
    );
    expect(changesOf(all, all)).toEqual({ added: [], raised: [], removed: [] });
  });

  test("by moving keeps every rule", () => {
    expect(movedTo(all, 0, 2)).toEqual([B, C, A]);
    expect(movedTo(all, 2, 0)).toEqual([C, A, B]);
  });
});

describe("a rule that is typed", () => {
  const typed = (more: object) => readRule({ ...draftOf(null), ...more });

  test("is what it was when nothing is changed", () => {
    const rule: Rule = { verdict: "ask", tool: "files.*", risk: "high", usd: 0.5, note: "why" };
    expect(readRule(draftOf(rule))).toMatchObject({ rule, wrong: {} });
  });

  test.each([
    [{}, "tool"],
    [{ note: "only a note" }, "tool"],
    [{ path: "/etc" }, "path"],
    [{ path: "a/../../b" }, "path"],
    [{ host: "exämple.org" }, "host"],
    [{ usd: "much" }, "usd"],
    [{ usd: "-1" }, "usd"],
  ])("%j is told what is wrong", (more, field) => {
    expect(Object.keys(typed(more).wrong)).toEqual([field]);
  });

  test("may cost nothing", () => {
    expect(typed({ usd: "0" })).toMatchObject({ rule: { usd: 0 }, wrong: {} });
  });
});
