import { useState } from "react";
import { Script } from "@/parts/Script";
import { visibleLine } from "@/parts/visible";
import type { WithinScript } from "./row";

/** Whose calls these are, and the script that makes them. */
export function ScriptHead({ within }: { within: WithinScript }) {
  const [isOpen, setOpen] = useState(false);
  const { script, title, isFirst } = within;
  if (!isFirst) return null;
  return (
    <div className="grid gap-1 pb-1 text-xs text-muted">
      <p className="flex flex-wrap items-center gap-x-2">
        Calls of “{visibleLine(title)}”
        {script ? (
          <button
            type="button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
            className="min-h-6 rounded px-1 text-accent hover:underline"
          >
            {isOpen ? "Hide the script" : "Show the script"}
          </button>
        ) : null}
      </p>
      {script && isOpen ? <Script label={`Script of “${visibleLine(title)}”`} {...script} /> : null}
    </div>
  );
}
