import { TriangleAlert } from "lucide-react";
import { Button } from "@/parts/Button";
import type { Rule } from "@/wire/types";
import { RuleLine } from "./RuleLine";
import { nameOf } from "./rules";

type Props = { rules: readonly Rule[]; onTake: () => void };

/** Rules that came with the folder: shown, so that somebody decides, and not in force. */
export function Foreign({ rules, onTake }: Props) {
  return (
    <section aria-label="Rules from elsewhere" className="grid gap-2 rounded-lg border border-warn p-3">
      <p className="flex gap-2 text-warn">
        <TriangleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
        These rules were saved elsewhere (a clone, a copy) and do not count. Saving other rules replaces them.
      </p>
      <ul className="divide-y divide-line/60">
        {rules.map((rule) => (
          <li key={nameOf(rule)} className="flex py-1.5">
            <RuleLine rule={rule} />
          </li>
        ))}
      </ul>
      <Button className="justify-self-start" onClick={onTake}>
        Make them mine…
      </Button>
    </section>
  );
}
