import { useQuery } from "@tanstack/react-query";
import { Lightbulb } from "lucide-react";
import { Button } from "@/parts/Button";
import { suggestionsQuery } from "@/wire/queries";
import type { Rule } from "@/wire/types";
import { RuleLine } from "./RuleLine";
import { nameOf } from "./rules";

type Props = { rules: readonly Rule[]; onAdd: (rule: Rule) => void };

/** Rules that one's own clicks suggest; nothing is shown while there are none. */
export function Proposals({ rules, onAdd }: Props) {
  const found = useQuery(suggestionsQuery);
  const known = new Set(rules.map(nameOf));
  const ahead = (found.data?.suggestions ?? []).filter((one) => !known.has(nameOf(one.rule)));
  if (ahead.length === 0) return null;
  return (
    <section aria-label="Proposals" className="grid gap-2">
      <h2 className="flex items-center gap-2 font-medium">
        <Lightbulb aria-hidden="true" className="size-4" />
        From your own decisions
      </h2>
      <ul className="divide-y divide-line/60 rounded-lg border bg-panel">
        {ahead.map((one) => (
          <li key={nameOf(one.rule)} className="flex flex-wrap items-center gap-2 px-3 py-1.5">
            <RuleLine rule={one.rule} />
            <span className="text-muted">approved {one.approved} times, never rejected</span>
            <Button className="ml-auto" onClick={() => onAdd(one.rule)}>
              Add
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
