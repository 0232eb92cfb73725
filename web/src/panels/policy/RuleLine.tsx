import { ruleInWords } from "@/panels/requests/rule";
import { visibleLine } from "@/parts/visible";
import type { Rule } from "@/wire/types";

const LOOKS: Record<Rule["verdict"], string> = {
  allow: "bg-ok-soft text-ok",
  ask: "bg-warn-soft text-warn",
  deny: "bg-bad-soft text-bad",
};

/** A rule on one line: its verdict, what it is about, and why it is there. */
export function RuleLine({ rule }: { rule: Rule }) {
  return (
    <span className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-2 gap-y-0.5">
      <span className={`w-14 rounded-full px-2 text-center text-xs font-medium ${LOOKS[rule.verdict]}`}>
        {rule.verdict}
      </span>
      <span className="min-w-0 font-mono text-xs break-words">
        {visibleLine(ruleInWords(rule).slice(rule.verdict.length + 1))}
      </span>
      {rule.note ? <span className="min-w-0 break-words text-muted">{visibleLine(rule.note)}</span> : null}
    </span>
  );
}
