import { CopyButton } from "./CopyButton";
import { Numbered } from "./Numbered";

type Props = { label: string; text: string; language: "javascript" | "python"; only?: readonly number[] };

const PATHS = { javascript: "script.js", python: "script.py" };

/** A program, line by line. */
export function Script({ label, text, language, only }: Props) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border bg-panel text-ink">
      <figcaption className="flex items-center justify-between border-b px-2 py-0.5 text-xs text-muted">
        <span>{label}</span>
        <CopyButton text={text} what={label} />
      </figcaption>
      <Numbered text={text} path={PATHS[language]} only={only} className="max-h-96 leading-5" />
    </figure>
  );
}
