import { CircleCheck, CircleX, ExternalLink } from "lucide-react";
import { CopyButton } from "@/parts/CopyButton";
import { visible, visibleLine } from "@/parts/visible";
import type { Summary } from "@/wire/change";

/** What was verified, and where the change can be found. */
export function Outcome({ summary }: { summary: Summary }) {
  return (
    <div className="grid min-w-0 gap-3">
      {summary.text ? <p className="break-words whitespace-pre-wrap">{visible(summary.text)}</p> : null}
      {summary.verdict ? (
        <p className={`font-medium ${summary.verdict === "passed" ? "text-ok" : "text-bad"}`}>
          Verification {summary.verdict}
        </p>
      ) : null}
      {summary.criteria.length > 0 ? (
        <ul aria-label="What was asked for" className="grid gap-1">
          {summary.criteria.map(({ text, isMet, why }) => {
            const Icon = isMet ? CircleCheck : CircleX;
            return (
              <li key={text} className="flex min-w-0 gap-2">
                <Icon
                  aria-label={isMet ? "met" : "not met"}
                  className={`mt-0.5 size-4 shrink-0 ${isMet ? "text-ok" : "text-bad"}`}
                />
                <span className="min-w-0 break-words">
                  {visibleLine(text)}
                  {why ? <span className="block text-xs text-muted">{visible(why)}</span> : null}
                </span>
              </li>
            );
          })}
        </ul>
      ) : null}
      {summary.branch ? (
        <p className="flex items-center gap-1">
          Branch <code className="font-mono break-all">{visibleLine(summary.branch)}</code>
          <CopyButton text={summary.branch} what="branch" />
        </p>
      ) : null}
      {summary.link ? <PullRequest link={summary.link} /> : null}
    </div>
  );
}

/** The address is shown in full: the text of a link may not say where it leads. */
function PullRequest({ link }: { link: string }) {
  return (
    <a
      href={link}
      target="_blank"
      rel="noopener noreferrer"
      className="inline-flex items-center gap-1 break-all text-accent underline"
    >
      <ExternalLink aria-hidden="true" className="size-4 shrink-0" />
      {visibleLine(link)}
    </a>
  );
}
