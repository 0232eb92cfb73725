import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Field, INPUT } from "@/parts/Field";
import { visibleLine } from "@/parts/visible";
import { toolsQuery } from "@/wire/queries";
import type { Rule } from "@/wire/types";
import { draftOf, type RuleDraft, readRule } from "./rules";

type Props = { rule: Rule | null; onDone: (rule: Rule) => void; onClose: () => void };

const CHOICES: { [Name in keyof RuleDraft]?: readonly (readonly [string, string])[] } = {
  verdict: [
    ["allow", "allow: it may go on"],
    ["ask", "ask: a person decides"],
    ["deny", "deny: never, whatever other rules say"],
  ],
  effect: [
    ["", "any"],
    ["read", "read"],
    ["write", "write: files of the workspace"],
    ["external", "external: leaves the house"],
  ],
  risk: [
    ["", "any"],
    ["low", "low or higher"],
    ["medium", "medium or higher"],
    ["high", "high"],
  ],
};
const FIELDS: readonly { name: keyof RuleDraft; label: string; hint?: string; most?: number }[] = [
  { name: "verdict", label: "What becomes of such a call" },
  { name: "tool", label: "Tool", hint: "A name or a pattern, such as files.*" },
  { name: "effect", label: "Effect" },
  { name: "path", label: "Path", hint: "In the workspace, such as docs/**" },
  { name: "host", label: "Host", hint: "Such as *.example.org" },
  { name: "risk", label: "Risk" },
  { name: "usd", label: "Costs more than (USD)" },
  { name: "note", label: "Note", hint: "Why you want it so", most: 500 },
];

/** One rule, new or changed. Nothing holds yet: the list is saved as a whole. */
export function RuleForm({ rule, onDone, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftOf(rule));
  const [isTried, setTried] = useState(false);
  const { rule: read, wrong } = readRule(draft);
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={rule ? "Change the rule" : "Add a rule"}
      about="A call must fit all that is filled in. Nothing is saved yet."
    >
      <form
        noValidate
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          setTried(true);
          if (Object.keys(wrong).length === 0) onDone(read);
        }}
      >
        {FIELDS.map(({ name, label, hint, most }) => (
          <Field key={name} label={label} hint={(isTried && wrong[name]) || hint}>
            {(given) => (
              <Control
                {...given}
                name={name}
                maxLength={most ?? 500}
                value={draft[name]}
                isWrong={isTried && name in wrong}
                onChange={(text) => setDraft({ ...draft, [name]: text })}
              />
            )}
          </Field>
        ))}
        <ToolNames />
        <div className="flex gap-2">
          <Button type="submit" look="primary">
            {rule ? "Change" : "Add"}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

type ControlProps = {
  id: string;
  "aria-describedby"?: string;
  name: keyof RuleDraft;
  maxLength: number;
  value: string;
  isWrong: boolean;
  onChange: (text: string) => void;
};

function Control({ name, value, isWrong, onChange, maxLength, ...given }: ControlProps) {
  const choices = CHOICES[name];
  if (choices !== undefined) {
    return (
      <select {...given} value={value} onChange={(event) => onChange(event.target.value)} className={INPUT}>
        {choices.map(([choice, words]) => (
          <option key={choice} value={choice}>
            {words}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      {...given}
      aria-invalid={isWrong}
      list={name === "tool" ? "tool-names" : undefined}
      inputMode={name === "usd" ? "decimal" : undefined}
      maxLength={maxLength}
      spellCheck={name === "note"}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={`${INPUT} ${name === "note" ? "" : "font-mono"}`}
    />
  );
}

/** The names there are, to choose from; without them the field is just a text. */
function ToolNames() {
  const { data = [] } = useQuery(toolsQuery);
  return (
    <datalist id="tool-names">
      {data.map(({ name }) => (
        <option key={name} value={name}>
          {visibleLine(name)}
        </option>
      ))}
    </datalist>
  );
}
