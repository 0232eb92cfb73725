import { Button } from "@/parts/Button";
import { Field, INPUT } from "@/parts/Field";
import { isSend } from "./isSend";
import type { AnswerProps } from "./Question";
import { useDraft } from "./useDraft";

/** A text, or the name of a file in the workspace. */
export function TextAnswer({ request, onAnswer }: AnswerProps) {
  const [text, setText] = useDraft(`${request.request_id}/text`);
  const isFile = request.kind === "file";
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer(text);
      }}
    >
      <Field
        label={isFile ? "Name of a file in the workspace" : "Your answer"}
        hint={isFile ? undefined : "Enter sends, Shift+Enter begins a new line."}
      >
        {(given) =>
          isFile ? (
            <input
              {...given}
              value={text}
              onChange={(event) => setText(event.target.value)}
              className={`${INPUT} font-mono`}
            />
          ) : (
            <textarea
              {...given}
              rows={2}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={(event) => isSend(event) && event.currentTarget.form?.requestSubmit()}
              className={INPUT}
            />
          )
        }
      </Field>
      <div>
        <Button type="submit" look="primary" disabled={text === ""}>
          Answer
        </Button>
      </div>
    </form>
  );
}
