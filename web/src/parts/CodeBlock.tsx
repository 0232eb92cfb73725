import { memo, useState } from "react";
import { CopyButton } from "./CopyButton";
import { Scrolled } from "./Scrolled";
import { readable, visible } from "./visible";

const MOST_LETTERS = 4_000;

/** A text or a value, exactly as it is; a long one is opened on request. */
export const CodeBlock = memo(function CodeBlock({ value, label }: { value: unknown; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const text = readable(value);
  const isLong = text.length > MOST_LETTERS;
  const shown = visible(isLong && !isWhole ? text.slice(0, MOST_LETTERS) : text);
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border bg-ground">
      <figcaption className="flex items-center justify-between border-b px-2 py-0.5 text-xs text-muted">
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      <Scrolled className="max-h-96 p-2 whitespace-pre-wrap break-words">{shown}</Scrolled>
      {isLong && !isWhole ? (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="w-full border-t px-2 py-1 text-left text-xs text-accent hover:bg-raised"
        >
          Show all {text.length.toLocaleString()} characters
        </button>
      ) : null}
    </figure>
  );
});
