import { useState } from "react";
import { Field, INPUT } from "@/parts/Field";
import { showProblem } from "@/parts/showProblem";
import { asProblem } from "@/wire/problem";
import type { Draft } from "./plan";

type Props = { draft: Draft; change: (part: Partial<Draft>) => void };

const EXAMPLE = `title: Say hello
steps:
  - id: hello
    tool: files.write
    params: {path: hello.txt, content: "Hello!\\n"}`;

/** A plan as text, pasted, dropped or read from a file; and the values of its inputs. */
export function PlanField({ draft, change }: Props) {
  const [isOver, setOver] = useState(false);
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      change({ plan: await file.text() });
    } catch (error) {
      showProblem(asProblem(error));
    }
  };
  return (
    <>
      <Field label="Plan" hint="YAML or JSON. Paste it, drop a file here, or choose one below." isRequired>
        {(given) => (
          <textarea
            {...given}
            rows={10}
            spellCheck={false}
            placeholder={EXAMPLE}
            value={draft.plan}
            onChange={(event) => change({ plan: event.target.value })}
            onDragOver={() => setOver(true)}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
              setOver(false);
              if (event.dataTransfer.files.length === 0) return;
              event.preventDefault();
              void read(event.dataTransfer.files[0]);
            }}
            className={`${INPUT} font-mono text-xs ${isOver ? "border-accent" : ""}`}
          />
        )}
      </Field>
      <input
        type="file"
        aria-label="Choose a plan's file"
        accept=".yaml,.yml,.json"
        onChange={(event) => void read(event.target.files?.[0])}
        className="max-w-full text-xs text-muted file:mr-2 file:min-h-8 file:cursor-pointer file:rounded-md file:border file:border-line file:bg-panel file:px-2.5 file:text-sm file:font-medium file:text-ink hover:file:bg-raised"
      />
      <Field label="Inputs" hint="YAML or JSON: values for the inputs that the plan names.">
        {(given) => (
          <textarea
            {...given}
            rows={2}
            spellCheck={false}
            value={draft.inputs}
            onChange={(event) => change({ inputs: event.target.value })}
            className={`${INPUT} font-mono text-xs`}
          />
        )}
      </Field>
    </>
  );
}
