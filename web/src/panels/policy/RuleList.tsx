import { ArrowDown, ArrowUp, Pencil, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/parts/Button";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import type { Rule } from "@/wire/types";
import { ruleInWords } from "../requests/rule";
import { RuleLine } from "./RuleLine";
import { movedTo, nameOf } from "./rules";

type Props = {
  rules: readonly Rule[];
  saved: readonly Rule[];
  onChange: (rules: Rule[]) => void;
  onEdit: (place: number) => void;
};

/** The rules in the order in which they are asked, each to be moved, changed or removed. */
export function RuleList({ rules, saved, onChange, onEdit }: Props) {
  const list = useRef<HTMLOListElement>(null);
  const [moved, setMoved] = useState<{ to: number; by: -1 | 1 } | null>(null);
  const known = new Set(saved.map(nameOf));
  const move = (from: number, by: -1 | 1) => {
    onChange(movedTo(rules, from, from + by));
    setMoved({ to: from + by, by });
  };
  // The focus goes with the rule, so that the same key moves it on.
  useEffect(() => {
    if (moved === null) return;
    const row = list.current?.children[moved.to];
    const buttons = [...(row?.querySelectorAll<HTMLButtonElement>("[data-move]") ?? [])];
    const same = buttons.find((button) => button.dataset.move === String(moved.by));
    (same?.disabled ? buttons.find((button) => !button.disabled) : same)?.focus();
  }, [moved]);
  return (
    <>
      <ol ref={list} className="divide-y divide-line/60 rounded-lg border bg-panel">
        {rules.map((rule, place) => {
          const words = visibleLine(ruleInWords(rule));
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: two rules may say the same; their place is their name
            <li key={`${nameOf(rule)}-${place}`} className="flex flex-wrap items-center gap-2 px-3 py-1.5">
              <span className="w-5 text-right font-mono text-xs text-muted">{place + 1}</span>
              <RuleLine rule={rule} />
              {known.has(nameOf(rule)) ? null : <Tag tone="live">not saved</Tag>}
              <span className="ml-auto flex">
                <Button
                  look="quiet"
                  data-move="-1"
                  disabled={place === 0}
                  aria-label={`Move up: ${words}`}
                  onClick={() => move(place, -1)}
                >
                  <ArrowUp aria-hidden="true" className="size-4" />
                </Button>
                <Button
                  look="quiet"
                  data-move="1"
                  disabled={place === rules.length - 1}
                  aria-label={`Move down: ${words}`}
                  onClick={() => move(place, 1)}
                >
                  <ArrowDown aria-hidden="true" className="size-4" />
                </Button>
                <Button look="quiet" aria-label={`Change: ${words}`} onClick={() => onEdit(place)}>
                  <Pencil aria-hidden="true" className="size-4" />
                </Button>
                <Button
                  look="quiet"
                  aria-label={`Remove: ${words}`}
                  onClick={() => onChange(rules.toSpliced(place, 1))}
                >
                  <Trash2 aria-hidden="true" className="size-4" />
                </Button>
              </span>
            </li>
          );
        })}
      </ol>
      <p aria-live="polite" className="sr-only">
        {moved ? `Now at place ${moved.to + 1} of ${rules.length}` : ""}
      </p>
    </>
  );
}
