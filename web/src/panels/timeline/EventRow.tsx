import { ChevronRight } from "lucide-react";
import { isPicture, Picture } from "@/panels/artifacts/Picture";
import { CodeBlock } from "@/parts/CodeBlock";
import { Tag } from "@/parts/Tag";
import { visible } from "@/parts/visible";
import { inWords, type Tone, toneOf } from "@/session/words";
import { type RowProps, rowLook } from "./row";
import { ScriptHead } from "./ScriptHead";
import { Stamp } from "./Stamp";

const TONES: Record<Tone, string> = {
  plain: "text-ink",
  ok: "text-ok",
  warn: "text-warn",
  bad: "text-bad",
  live: "text-live",
};

/** Any other event on one line; opened, with all it says. */
export function EventRow(props: RowProps) {
  const { row, isOpen, toggle, within } = props;
  const event = row.head;
  const picture = event.type === "artifact" && isPicture(event.data.media_type) ? event.data : null;
  return (
    <article id={`event-${event.seq}`} className={rowLook(props)}>
      {within ? <ScriptHead within={within} /> : null}
      <div className={`flex min-w-0 items-start gap-2 ${within ? "border-l-2 border-line pl-2" : ""}`}>
        <Stamp seq={event.seq} at={event.timestamp} />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={toggle}
          className="flex min-w-0 flex-1 items-start gap-2 rounded text-left"
        >
          <ChevronRight
            aria-hidden="true"
            className={`mt-0.5 size-3.5 shrink-0 text-muted motion-safe:transition-transform ${isOpen ? "rotate-90" : ""}`}
          />
          <span className={`min-w-0 break-words ${isOpen ? "" : "line-clamp-2"} ${TONES[toneOf(event)]}`}>
            {visible(inWords(event))}
          </span>
        </button>
        {row.isLeftBehind ? <Tag>left behind</Tag> : null}
      </div>
      {picture ? (
        <div className="mt-1 flex pl-6">
          <Picture session={event.session_id} name={picture.name} step={picture.key} />
        </div>
      ) : null}
      {isOpen ? (
        <div className="mt-2 min-w-0 pl-6">
          <CodeBlock value={event.data} label={`Event ${event.seq}: ${event.type}`} />
        </div>
      ) : null}
    </article>
  );
}
