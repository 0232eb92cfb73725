import { ShieldAlert, ShieldCheck, ShieldQuestionMark } from "lucide-react";
import { visible } from "@/parts/visible";
import type { Risk } from "@/wire/types";

type Factor = Risk["reasons"][number]["factor"];

/** The points that a factor can add at most, as docs/codegraph.md has them. */
const MOST: Record<Factor, number> = {
  fan_in: 25,
  fan_out: 5,
  spread: 20,
  endpoints: 15,
  untested: 20,
  churn: 15,
};
const LEVELS = {
  low: { icon: ShieldCheck, ink: "text-ok", bar: "bg-ok" },
  medium: { icon: ShieldQuestionMark, ink: "text-warn", bar: "bg-warn" },
  high: { icon: ShieldAlert, ink: "text-bad", bar: "bg-bad" },
};

/** How much can go wrong, and what it is made of. */
export function RiskBars({ risk }: { risk: Risk }) {
  const { icon: Icon, ink, bar } = LEVELS[risk.level];
  return (
    <section aria-label="Risk" className="grid gap-2 rounded-md border bg-panel p-2.5">
      <h3 className={`flex items-center gap-1.5 font-medium ${ink}`}>
        <Icon aria-hidden="true" className="size-4" />
        {risk.level} risk: {risk.score} of 100
      </h3>
      <ul className="grid gap-1.5">
        {risk.reasons.map(({ factor, points, text }) => (
          <li key={factor} className="grid gap-0.5 text-xs">
            <span className="flex justify-between gap-2">
              <span className="min-w-0 break-words">{visible(text)}</span>
              <span className="shrink-0 font-mono text-muted">+{Math.round(points)}</span>
            </span>
            <span aria-hidden="true" className="block h-1 overflow-hidden rounded-full bg-raised">
              <span
                className={`block h-full ${bar}`}
                style={{ width: `${Math.min(100, (100 * points) / MOST[factor])}%` }}
              />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
