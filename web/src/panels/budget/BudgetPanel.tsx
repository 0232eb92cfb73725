import { Meter } from "@/parts/Meter";
import { duration } from "@/parts/time";
import type { SessionPanelProps } from "../session";

const count = (value: number) => value.toLocaleString();
const LIMITS = [
  { name: "steps", label: "Steps", words: count },
  { name: "seconds", label: "Time in steps", words: duration },
  { name: "tokens", label: "Tokens", words: count },
  { name: "usd", label: "Cost", words: (value: number) => `$${value.toFixed(2)}` },
] as const;

/** What was used of what was given. */
export function BudgetPanel({ live }: SessionPanelProps) {
  const { budget, usage } = live.state;
  return (
    <div className="grid gap-3 p-3">
      {LIMITS.map(({ name, label, words }) => {
        const [used, allowed] = [usage[name], budget[name] ?? null];
        const told = allowed === null ? `${words(used)}, no limit` : `${words(used)} of ${words(allowed)}`;
        return <Meter key={name} label={label} used={used} allowed={allowed} words={told} />;
      })}
    </div>
  );
}
