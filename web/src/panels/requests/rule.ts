import type { Rule } from "@/wire/types";

/** A rule on one line, in the words that the terminal uses. */
export function ruleInWords(rule: Rule): string {
  const parts = (["tool", "effect", "path", "host"] as const)
    .filter((name) => rule[name] != null)
    .map((name) => `${name} ${rule[name]}`);
  if (rule.risk) parts.push(`risk ${rule.risk} or higher`);
  if (rule.usd != null) parts.push(`cost above ${rule.usd} USD`);
  return `${rule.verdict} ${parts.join(", ")}`;
}
