import { memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { CopyButton } from "./CopyButton";
import { recall, remember } from "./memory";
import { Scrolled } from "./Scrolled";
import { type Ink, type Piece, terminalLine } from "./terminal";
import { visibleLine } from "./visible";

type Props = {
  label: string;
  lines: readonly string[];
  /** How many lines came before these and are not kept. */
  before?: number;
  /** Whether more are coming: then the newest stay in sight until one scrolls up. */
  isLive?: boolean;
  /** Whether one sees the end first, as after something went wrong. */
  isFromEnd?: boolean;
  children?: ReactNode;
};

const FEW = 400;
const LONGEST = 2_000;
const NEAR = 24;
const INKS: Record<Ink, string> = {
  red: "text-bad",
  green: "text-ok",
  yellow: "text-warn",
  blue: "text-live",
  magenta: "text-code-keyword",
  cyan: "text-accent",
  grey: "text-muted",
};

/** What a program printed, as a terminal would show it: the last lines first, all of them on request. */
export function Output({ label, lines, before = 0, isLive = false, isFromEnd = false, children }: Props) {
  const [isWhole, setWhole] = useState(false);
  const [wraps, setWraps] = useState(() => recall<boolean>("wrap") !== false);
  const left = isWhole ? 0 : Math.max(0, lines.length - FEW);
  const [place, onScroll] = useFollowing(isLive, isFromEnd, before + lines.length);
  useEffect(() => remember("wrap", wraps), [wraps]);
  return (
    <figure
      className={`min-w-0 overflow-hidden rounded-md border bg-panel ${isLive ? "border-live/50" : ""}`}
    >
      <figcaption className="flex min-w-0 items-center gap-2 border-b px-2 py-0.5 text-xs text-muted">
        <span className={`min-w-0 truncate ${isLive ? "text-live" : ""}`}>{label}</span>
        {children}
        <span className="ml-auto whitespace-nowrap">
          {counted(before + lines.length)}
          {isLive ? " seen" : ""}
        </span>
        <button
          type="button"
          aria-pressed={wraps}
          onClick={() => setWraps(!wraps)}
          className="min-h-6 rounded px-1.5 whitespace-nowrap hover:bg-raised hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink"
        >
          Wrap
        </button>
        <CopyButton text={lines.join("\n")} what={label} />
      </figcaption>
      {before > 0 ? (
        <p className="border-b px-2 py-1 text-xs text-muted">
          {counted(before)} before these {before === 1 ? "is" : "are"} not kept on this page.
        </p>
      ) : null}
      {left > 0 ? (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="w-full border-b px-2 py-1 text-left text-xs text-accent -outline-offset-2 hover:bg-raised"
        >
          Show the {counted(left)} before these
        </button>
      ) : null}
      <Scrolled
        ref={place}
        onScroll={onScroll}
        className={`${isLive ? "max-h-[40dvh] max-lg:max-h-[30dvh]" : "max-h-96"} p-2 leading-5 ${wraps ? "break-words whitespace-pre-wrap" : "whitespace-pre"}`}
      >
        {lines.slice(left).map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: it is the line's number among all that came
          <Line key={before + left + at} text={line} />
        ))}
      </Scrolled>
    </figure>
  );
}

const Line = memo(function Line({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const more = isWhole ? 0 : text.length - LONGEST;
  const { pieces, rewritten } = terminalLine(more > 0 ? text.slice(0, LONGEST) : text);
  return (
    <div className="min-h-5 [contain-intrinsic-size:auto_1.25rem] [content-visibility:auto]">
      {pieces.map((piece, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line have no other name
        <span key={at} className={lookOf(piece)}>
          {visibleLine(piece.text)}
        </span>
      ))}
      {more > 0 ? (
        <button type="button" onClick={() => setWhole(true)} className="ml-1 text-accent underline">
          {more.toLocaleString()} more characters
        </button>
      ) : null}
      {rewritten > 0 ? (
        <span className="text-muted" title="It wrote over this line before, as progress bars do.">
          {" "}
          ({rewritten.toLocaleString()} earlier)
        </span>
      ) : null}
    </div>
  );
});

function lookOf({ ink, isBold, isDim, isUnderlined }: Piece): string | undefined {
  const look = [
    isDim && ink === null ? "text-muted" : ink ? INKS[ink] : "",
    isBold ? "font-semibold" : "",
    isUnderlined ? "underline" : "",
  ];
  return look.filter(Boolean).join(" ") || undefined;
}

/** Stay at the end while lines come, unless somebody has scrolled away from it. */
function useFollowing(isLive: boolean, isFromEnd: boolean, count: number) {
  const place = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  const follows = isLive || isFromEnd;
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever there are more lines
  useLayoutEffect(() => {
    if (follows && isAtEnd.current && place.current) place.current.scrollTop = place.current.scrollHeight;
  }, [follows, count]);
  const onScroll = () => {
    const box = place.current;
    if (box) isAtEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
  };
  return [place, onScroll] as const;
}

const counted = (lines: number) => (lines === 1 ? "1 line" : `${lines.toLocaleString()} lines`);
