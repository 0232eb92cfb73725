import { ChevronRight } from "lucide-react";
import { StatusBadge } from "@/parts/StatusBadge";
import { Tag } from "@/parts/Tag";
import { duration } from "@/parts/time";
import { visible, visibleLine } from "@/parts/visible";
import { isWithin, stepOf } from "@/session/fold";
import type { Row } from "@/session/story";
import type { EnvelopeOf } from "@/wire/types";
import { Payload } from "./Payload";
import { hintOf, type RowProps, rowLook } from "./row";
import { Stamp } from "./Stamp";

type Props = RowProps & { titles: ReadonlyMap<string, string>; before: Row | undefined };

/** A step from its beginning to its end; opened, with what went in and what came out. */
export function StepRow({ titles, before, ...props }: Props) {
  const { row, isOpen, toggle } = props;
  const [first, last] = [row.head as EnvelopeOf<"step">, row.last as EnvelopeOf<"step">];
  const { key, name, seconds, attempt = 1, problem, reason, effect } = last.data;
  const planned = titles.get(stepOf(key));
  const isCall = planned !== undefined && isWithin(key);
  const [title, beside] = isCall ? [name, hintOf(first.data.input)] : [planned ?? key, name];
  return (
    <article id={`event-${first.seq}`} className={rowLook(props)}>
      {isCall && !isCallOf(before, stepOf(key)) ? (
        <p className="pb-1 text-xs text-muted">Calls of “{visibleLine(planned)}”</p>
      ) : null}
      <div className={`flex min-w-0 items-center gap-2 ${isCall ? "border-l-2 border-line pl-2" : ""}`}>
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
          <span className={`truncate ${isCall ? "shrink-0 font-mono text-xs" : "min-w-0 font-medium"}`}>
            {visibleLine(title)}
          </span>
          <code className={`min-w-0 truncate font-mono text-xs text-muted ${isCall ? "" : "max-sm:hidden"}`}>
            {visibleLine(beside)}
          </code>
        </button>
        {attempt > 1 ? <Tag tone="warn">attempt {attempt}</Tag> : null}
        {seconds != null ? <span className="font-mono text-xs text-muted">{duration(seconds)}</span> : null}
        {row.isLeftBehind ? <Tag>left behind</Tag> : <StatusBadge status={last.data.status} />}
      </div>
      {problem || reason ? (
        <p className={`mt-0.5 pl-6 text-xs break-words ${problem ? "text-bad" : "text-muted"}`}>
          {visible(problem?.detail ?? reason ?? "")}
        </p>
      ) : null}
      {isOpen ? (
        <div className="mt-2 grid gap-2 pl-6">
          <p className="font-mono text-xs break-all text-muted">
            {visibleLine(key)} · {effect ?? "read"} ·{" "}
            {last.seq === first.seq ? `event ${first.seq}` : `events ${first.seq}–${last.seq}`}
          </p>
          {problem?.hint ? <p className="text-xs">{visible(problem.hint)}</p> : null}
          <Payload event={first} field="input" label="Input" />
          {first.seq === last.seq && first.data.output === undefined && !first.data.aside?.output ? null : (
            <Payload event={last} field="output" label="Output" />
          )}
        </div>
      ) : null}
    </article>
  );
}

function isCallOf(row: Row | undefined, step: string): boolean {
  return row?.head.type === "step" && isWithin(row.head.data.key) && stepOf(row.head.data.key) === step;
}
