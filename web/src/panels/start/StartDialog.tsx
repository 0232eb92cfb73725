import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Field, INPUT } from "@/parts/Field";
import { start } from "@/wire/client";
import type { StartBody } from "@/wire/types";
import { BudgetFields } from "./BudgetFields";
import { ModeChoice } from "./ModeChoice";
import { PlanField } from "./PlanField";
import { bodyOf, type Draft, EMPTY } from "./plan";
import { Refusal } from "./Refusal";

/** Start a session: a plan or a workflow, with or without a person, within a budget. */
export default function StartDialog({ onClose }: { onClose: () => void }) {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }));
  const navigate = useNavigate();
  const once = useKeyOnce();
  const starting = useMutation({
    mutationFn: async () => start(once(await bodyOf(draft))),
    onSuccess: ({ session_id }) => {
      onClose();
      void navigate({ to: `/sessions/${session_id}` });
    },
  });
  return (
    <Dialog title="Start a session" isOpen isWide onClose={onClose}>
      <form
        noValidate
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          starting.mutate();
        }}
      >
        <fieldset className="flex gap-4">
          <legend className="sr-only">What to start</legend>
          {(["plan", "workflow"] as const).map((what) => (
            <label key={what} className="flex items-center gap-2">
              <input
                type="radio"
                name="what"
                checked={draft.what === what}
                onChange={() => change({ what })}
                className="accent-accent"
              />
              {what === "plan" ? "A plan" : "A workflow"}
            </label>
          ))}
        </fieldset>
        {draft.what === "plan" ? (
          <PlanField draft={draft} change={change} />
        ) : (
          <>
            <Field label="Workflow" isRequired>
              {(given) => (
                <input
                  {...given}
                  value={draft.workflow}
                  onChange={(event) => change({ workflow: event.target.value })}
                  className={`${INPUT} font-mono`}
                />
              )}
            </Field>
            <Field label="Input" hint="JSON or YAML: its arguments by name.">
              {(given) => (
                <textarea
                  {...given}
                  rows={4}
                  spellCheck={false}
                  value={draft.input}
                  onChange={(event) => change({ input: event.target.value })}
                  className={`${INPUT} font-mono text-xs`}
                />
              )}
            </Field>
          </>
        )}
        <ModeChoice mode={draft.mode} onMode={(mode) => change({ mode })} />
        <div className="grid gap-3 sm:grid-cols-2">
          <Field label="Title">
            {(given) => (
              <input
                {...given}
                maxLength={200}
                value={draft.title}
                onChange={(event) => change({ title: event.target.value })}
                className={INPUT}
              />
            )}
          </Field>
          <Field label="Workspace" hint="A folder on the server that the session may work in.">
            {(given) => (
              <input
                {...given}
                value={draft.workspace}
                onChange={(event) => change({ workspace: event.target.value })}
                className={`${INPUT} font-mono`}
              />
            )}
          </Field>
        </div>
        <BudgetFields draft={draft} change={change} />
        {starting.error ? <Refusal error={starting.error} onClose={onClose} /> : null}
        <div className="sticky -bottom-4 -mx-4 -mb-4 flex gap-2 border-t bg-panel px-4 py-3">
          <Button type="submit" look="primary" disabled={starting.isPending}>
            {starting.isPending ? "Starting…" : "Start"}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The same body has the same key, so that a second click after a lost answer starts nothing twice. */
function useKeyOnce(): (body: StartBody) => StartBody {
  const last = useRef({ text: "", key: "" });
  return (body) => {
    const text = JSON.stringify(body);
    if (last.current.text !== text) {
      const random = crypto.getRandomValues(new Uint8Array(16));
      last.current = {
        text,
        key: `web-${Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")}`,
      };
    }
    return { ...body, idempotency_key: last.current.key };
  };
}
