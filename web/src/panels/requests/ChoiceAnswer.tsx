import { Button } from "@/parts/Button";
import { visibleLine } from "@/parts/visible";
import type { AnswerProps } from "./Question";
import { useDraft } from "./useDraft";

/** One of several; after a failure, `edit` opens the parameters first. */
export function ChoiceAnswer({ request, onAnswer, onEdit }: AnswerProps & { onEdit: () => void }) {
  const choices = request.choices ?? [];
  const [chosen, setChosen] = useDraft(`${request.request_id}/choice`, choices[0] ?? "");
  const isEdit = request.purpose === "failure" && chosen === "edit";
  return (
    <form
      className="grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (isEdit) onEdit();
        else onAnswer(chosen);
      }}
    >
      <fieldset className="flex flex-wrap gap-2">
        <legend className="sr-only">Choose one</legend>
        {choices.map((choice) => (
          <label
            key={choice}
            className="flex min-h-8 cursor-pointer items-center gap-2 rounded-md border px-2.5 py-1 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={request.request_id}
              checked={choice === chosen}
              onChange={() => setChosen(choice)}
              className="accent-accent outline-none"
            />
            {visibleLine(choice)}
          </label>
        ))}
      </fieldset>
      <div>
        <Button type="submit" look="primary" keys={isEdit ? "e" : undefined} disabled={chosen === ""}>
          {isEdit ? "Edit the parameters" : "Answer"}
        </Button>
      </div>
    </form>
  );
}
