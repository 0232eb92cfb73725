import { ChevronRight } from "lucide-react";
import { Script } from "@/parts/Script";
import { StatusBadge } from "@/parts/StatusBadge";
import { Tag } from "@/parts/Tag";
import { duration } from "@/parts/time";
import { visible, visibleLine } from "@/parts/visible";
import { stepOf } from "@/session/fold";
import { lineOf, linesNaming } from "@/session/script";
import type { EnvelopeOf } from "@/wire/types";
import { Exit } from "./OutcomeShown";
import { badExit } from "./outcomes";
import { Payload } from "./Payload";
import { hintOf, type RowProps, rowLook, type WithinScript } from "./row";
import { ScriptHead } from "./ScriptHead";
import { Stamp } from "./Stamp";

type Props = RowProps & { titles: ReadonlyMap<string, string> };

/** A step from its beginning to its end; opened, with what went in and what came out. */
export function StepRow({ titles, ...props }: Props) {
  const { row, isOpen, toggle, within } = props;
  const [first, last] = [row.head as EnvelopeOf<"step">, row.last as EnvelopeOf<"step">];
  const { key, name, seconds, attempt = 1, problem, reason } = last.data;
  const [title, beside] = within ? [name, hintOf(first.data.input)] : [titles.get(stepOf(key)) ?? key, name];
  return (
    <article id={`event-${first.seq}`} className={rowLook(props)}>
      {within ? <ScriptHead within={within} /> : null}
      <div className={`flex min-w-0 items-center gap-2 ${within ? "border-l-2 border-line pl-2" : ""}`}>
        <Stamp seq={first.seq} at={first.timestamp} />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={toggle}
          className="flex min-w-0 flex-1 items-center gap-2 rounded text-left"
        >
          <ChevronRight
            aria-hidden="true"
            className={`size-3.5 shrink-0 text-muted motion-safe:transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span className={`truncate ${within ? "shrink-0 font-mono text-xs" : "min-w-0 font-medium"}`}>
            {visibleLine(title)}
          </span>
          <code className={`min-w-0 truncate font-mono text-xs text-muted ${within ? "" : "max-sm:hidden"}`}>
            {visibleLine(beside)}
          </code>
        </button>
        {within ? <InLine within={within} tool={name} /> : null}
        {attempt > 1 ? <Tag tone="warn">attempt {attempt}</Tag> : null}
        <Exit code={badExit(name, last.data.output)} />
        {seconds != null ? <span className="font-mono text-xs text-muted">{duration(seconds)}</span> : null}
        {row.isLeftBehind ? <Tag>left behind</Tag> : <StatusBadge status={last.data.status} />}
      </div>
      {problem || reason ? (
        <p
          className={`mt-0.5 pl-6 text-xs break-words whitespace-pre-wrap ${problem ? "text-bad" : "text-muted"}`}
        >
          {visible(problem?.detail ?? reason ?? "")}
        </p>
      ) : null}
      {isOpen ? <Opened first={first} last={last} within={within} /> : null}
    </article>
  );
}

type OpenedProps = { first: EnvelopeOf<"step">; last: EnvelopeOf<"step">; within: WithinScript | null };

function Opened({ first, last, within }: OpenedProps) {
  const { key, effect, problem } = last.data;
  const isEnded = first.seq !== last.seq || first.data.output !== undefined || first.data.aside?.output;
  return (
    <div className="mt-2 grid min-w-0 gap-2 pl-6">
      <p className="font-mono text-xs break-all text-muted">
        {visibleLine(key)} · {effect ?? "read"} ·{" "}
        {last.seq === first.seq ? `event ${first.seq}` : `events ${first.seq}–${last.seq}`}
      </p>
      {problem?.hint ? <p className="text-xs">{visible(problem.hint)}</p> : null}
      {within ? <InScript within={within} tool={last.data.name} /> : null}
      <Payload event={first} field="input" label="Input" />
      {isEnded ? <Payload event={last} field="output" label="Output" /> : null}
    </div>
  );
}

/** Where in the script a call stands, if that is certain. */
function InLine({ within, tool }: { within: WithinScript; tool: string }) {
  const line = within.script ? lineOf(within.script, tool) : null;
  if (line === null) return null;
  return (
    <span
      title={`The only line of the script that names ${visibleLine(tool)}`}
      className="text-xs whitespace-nowrap text-muted max-sm:hidden"
    >
      line {line}
    </span>
  );
}

function InScript({ within, tool }: { within: WithinScript; tool: string }) {
  const lines = within.script ? linesNaming(within.script, tool) : [];
  if (within.script === undefined || lines.length === 0) return null;
  return <Script label={`Where the script names ${visibleLine(tool)}`} {...within.script} only={lines} />;
}
