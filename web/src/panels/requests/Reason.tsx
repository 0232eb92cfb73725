import { useEffect, useRef } from "react";
import { Button } from "@/parts/Button";
import { Field, INPUT } from "@/parts/Field";
import { isSend } from "./isSend";
import { useDraft } from "./useDraft";

type Props = { name: string; onSend: (reason: string) => void; onCancel: () => void };

/** Why not; the session is told. */
export function Reason({ name, onSend, onCancel }: Props) {
  const [reason, setReason] = useDraft(`${name}/reason`);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onSend(reason.trim());
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <Field label="Why not?" hint="The session is told. Enter sends, Shift+Enter begins a new line.">
        {(given) => (
          <textarea
            {...given}
            ref={field}
            rows={2}
            maxLength={10_000}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => isSend(event) && event.currentTarget.form?.requestSubmit()}
            className={INPUT}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button type="submit" look="danger">
          Reject
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}
