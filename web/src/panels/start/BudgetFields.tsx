import { Field, INPUT } from "@/parts/Field";
import type { Draft } from "./plan";

const LIMITS = [
  { name: "steps", label: "Steps" },
  { name: "seconds", label: "Seconds in steps" },
  { name: "tokens", label: "Tokens" },
  { name: "usd", label: "US dollars" },
] as const;

/** What the session may use; it asks for more when that is gone. */
export function BudgetFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  return (
    <details>
      <summary className="cursor-pointer text-xs font-medium">Budget</summary>
      <div className="mt-2 grid grid-cols-2 gap-3 sm:grid-cols-4">
        {LIMITS.map(({ name, label }) => (
          <Field key={name} label={label}>
            {(given) => (
              <input
                {...given}
                inputMode="decimal"
                placeholder="no limit"
                value={draft[name]}
                onChange={(event) => change({ [name]: event.target.value })}
                className={INPUT}
              />
            )}
          </Field>
        ))}
      </div>
    </details>
  );
}
