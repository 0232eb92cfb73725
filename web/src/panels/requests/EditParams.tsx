import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Button } from "@/parts/Button";
import { Failed, Loading } from "@/parts/Faces";
import { Field, INPUT } from "@/parts/Field";
import { lastParams } from "@/session/params";
import type { InputRequest } from "@/wire/types";
import { useDraft } from "./useDraft";

type Props = {
  sessionId: string;
  request: InputRequest;
  onSend: (params: Record<string, unknown>) => void;
  onCancel: () => void;
};

/** The parameters of the step that failed, to be corrected and tried again. */
export function EditParams({ sessionId, request, onSend, onCancel }: Props) {
  const params = useQuery({
    queryKey: ["params", sessionId, request.request_id],
    queryFn: () => lastParams(sessionId, request.key),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (params.isPending) return <Loading what="the parameters" />;
  if (params.isError) return <Failed error={params.error} retry={() => void params.refetch()} />;
  const initial = JSON.stringify(params.data, null, 2);
  return (
    <Editor name={`${request.request_id}/params`} initial={initial} onSend={onSend} onCancel={onCancel} />
  );
}

type EditorProps = Pick<Props, "onSend" | "onCancel"> & { name: string; initial: string };

function Editor({ name, initial, onSend, onCancel }: EditorProps) {
  const [text, setText] = useDraft(name, initial);
  const [wrong, setWrong] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = () => {
    const params = asObject(text);
    if (params === null) setWrong("This is not a JSON object.");
    else onSend(params);
  };
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <Field label="Parameters in full (JSON)" hint={wrong ?? "Ctrl+Enter sends; Escape goes back."}>
        {(given) => (
          <textarea
            {...given}
            ref={field}
            rows={8}
            spellCheck={false}
            aria-invalid={wrong !== null}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setWrong(null);
            }}
            onKeyDown={(event) => (event.ctrlKey || event.metaKey) && event.key === "Enter" && send()}
            className={`${INPUT} font-mono text-xs`}
          />
        )}
      </Field>
      <div className="flex gap-2">
        <Button type="submit" look="primary">
          Try with these
        </Button>
        <Button onClick={onCancel}>Back</Button>
      </div>
    </form>
  );
}

function asObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
