import { Paperclip } from "lucide-react";
import { bytes } from "@/parts/amounts";
import { CodeBlock } from "@/parts/CodeBlock";
import { visibleLine } from "@/parts/visible";
import { Fact, Facts, OtherParams } from "./Facts";
import type { Attachment, Letter } from "./previews";

const SHOWN = ["to", "cc", "bcc", "reply_to", "subject", "text", "html", "attachments"];

/** The whole letter: who gets it, what it says, what is attached. */
export function LetterShown({ letter, params }: { letter: Letter; params: unknown }) {
  return (
    <>
      <Facts>
        <Fact name="From">{visibleLine(letter.from)}</Fact>
        <Addresses name="To" all={letter.to} />
        <Addresses name="Cc" all={letter.cc} />
        <Addresses name="Bcc" all={letter.bcc} note="unseen by the others" />
        {letter.replyTo === null ? null : <Fact name="Answers go to">{visibleLine(letter.replyTo)}</Fact>}
        <Fact name="Subject">
          <strong className="font-semibold">{visibleLine(letter.subject)}</strong>
        </Fact>
        <OtherParams params={params} shown={SHOWN} />
      </Facts>
      <CodeBlock value={letter.text} label="Text" />
      {letter.html === null ? null : <CodeBlock value={letter.html} label="HTML that is sent with it" />}
      {letter.attachments.length === 0 ? null : <Attachments files={letter.attachments} />}
    </>
  );
}

function Addresses({ name, all, note }: { name: string; all: readonly string[]; note?: string }) {
  if (all.length === 0) return null;
  return (
    <Fact name={name}>
      {visibleLine(all.join(", "))}
      {note ? <span className="text-xs text-muted"> ({note})</span> : null}
    </Fact>
  );
}

function Attachments({ files }: { files: readonly Attachment[] }) {
  return (
    <div>
      <h3 className="text-xs font-medium text-muted">Attached</h3>
      <ul className="mt-1 grid gap-1">
        {files.map((file) => (
          <li key={file.path} className="flex min-w-0 items-center gap-2">
            <Paperclip aria-hidden="true" className="size-3.5 shrink-0 text-muted" />
            <code className="min-w-0 font-mono text-xs break-all">{visibleLine(file.path)}</code>
            <span className="text-xs text-muted">
              {visibleLine(file.contentType)}, {bytes(file.bytes)}
            </span>
            <code className="font-mono text-xs text-muted max-sm:hidden" title={file.sha256}>
              {file.sha256.slice(0, 12)}
            </code>
          </li>
        ))}
      </ul>
    </div>
  );
}
