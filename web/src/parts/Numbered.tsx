import { memo } from "react";
import { Scrolled } from "./Scrolled";
import { coloured, type Piece } from "./syntax";
import { visible } from "./visible";

type Props = {
  text: string;
  /** Names the language by its ending; left out, there are no colours. */
  path?: string;
  /** Only these lines, counted from 1. */
  only?: readonly number[];
  className?: string;
};

const COLOURS: Record<Piece["kind"], string> = {
  keyword: "text-code-keyword",
  text: "text-code-text",
  number: "text-code-number",
  comment: "text-code-comment",
  plain: "",
};

/** Every line with its number, so that neither empty lines nor what stands below them goes unseen. */
export const Numbered = memo(function Numbered({ text, path = "x.txt", only, className = "" }: Props) {
  const lines = visible(text).replace(/\n$/, "").split("\n");
  const shown = only ?? lines.map((_, place) => place + 1);
  const isLong = lines.length > 1;
  return (
    <Scrolled className={`p-2 ${className}`}>
      {shown.map((number) => (
        <div
          key={number}
          data-line={isLong ? number : undefined}
          className={`relative break-words whitespace-pre-wrap ${isLong ? "pl-9 before:absolute before:left-0 before:w-7 before:text-right before:text-xs before:leading-5 before:text-muted before:content-[attr(data-line)]" : ""}`}
        >
          {lines[number - 1] ? <Coloured line={lines[number - 1] ?? ""} path={path} /> : " "}
        </div>
      ))}
    </Scrolled>
  );
});

/** A line of code in its colours. */
export function Coloured({ line, path }: { line: string; path: string }) {
  return coloured(line, path).map((piece, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line have no other name
    <span key={at} className={COLOURS[piece.kind]}>
      {piece.text}
    </span>
  ));
}
