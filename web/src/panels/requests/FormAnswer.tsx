import { useState } from "react";
import { Button } from "@/parts/Button";
import { Field, INPUT } from "@/parts/Field";
import { visibleLine } from "@/parts/visible";
import { type Filled, type FormField, fieldsOf, readForm } from "./form";
import type { AnswerProps } from "./Question";
import { useDraft } from "./useDraft";

/** The fields that the session asks for. */
export function FormAnswer({ request, onAnswer }: AnswerProps) {
  const fields = fieldsOf(request.form);
  const [draft, setDraft] = useDraft(`${request.request_id}/form`, "{}");
  const filled = JSON.parse(draft) as Filled;
  const [isTried, setTried] = useState(false);
  const { value, wrong } = readForm(fields, filled);
  return (
    <form
      noValidate
      className="grid max-w-xl gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(wrong).length === 0) onAnswer(value);
      }}
    >
      {fields.map((field) => (
        <Field
          key={field.name}
          label={visibleLine(field.label)}
          hint={(isTried && wrong[field.name]) || (field.hint && visibleLine(field.hint)) || undefined}
          isRequired={field.isRequired}
        >
          {(given) => (
            <Control
              given={{
                ...given,
                "aria-invalid": isTried && field.name in wrong,
                "aria-required": field.isRequired,
              }}
              field={field}
              text={filled[field.name] ?? field.initial}
              onChange={(text) => setDraft(JSON.stringify({ ...filled, [field.name]: text }))}
            />
          )}
        </Field>
      ))}
      {fields.length === 0 ? (
        <p className="text-muted">The form has no fields; sending it confirms it.</p>
      ) : null}
      <div>
        <Button type="submit" look="primary">
          Answer
        </Button>
      </div>
    </form>
  );
}

type ControlProps = {
  given: { id: string; "aria-invalid": boolean; "aria-required": boolean };
  field: FormField;
  text: string;
  onChange: (text: string) => void;
};

function Control({ given, field, text, onChange }: ControlProps) {
  switch (field.kind) {
    case "boolean": {
      const { "aria-required": _, ...checkable } = given;
      return (
        <input
          {...checkable}
          type="checkbox"
          checked={text === "true"}
          onChange={(event) => onChange(String(event.target.checked))}
          className="size-4 justify-self-start accent-accent"
        />
      );
    }
    case "choice":
      return (
        <select {...given} value={text} onChange={(event) => onChange(event.target.value)} className={INPUT}>
          <option value="">Choose…</option>
          {field.choices.map((choice, index) => (
            <option key={JSON.stringify(choice)} value={String(index)}>
              {visibleLine(typeof choice === "string" ? choice : JSON.stringify(choice))}
            </option>
          ))}
        </select>
      );
    case "json":
      return (
        <textarea
          {...given}
          rows={3}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          placeholder="JSON"
          className={`${INPUT} font-mono`}
        />
      );
    default:
      return (
        <input
          {...given}
          inputMode={field.kind === "text" ? "text" : "decimal"}
          value={text}
          onChange={(event) => onChange(event.target.value)}
          className={INPUT}
        />
      );
  }
}
