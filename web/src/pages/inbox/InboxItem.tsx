import { Link } from "@tanstack/react-router";
import { CircleHelp, ShieldQuestion } from "lucide-react";
import { RequestCard } from "@/panels/requests/RequestCard";
import { useDecide } from "@/panels/requests/useDecide";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import type { Pending } from "@/wire/types";

type Props = { pending: Pending; isChosen: boolean; onChoose: () => void };

/** One request: a line, and opened when it is the chosen one. */
export function InboxItem({ pending, isChosen, onChoose }: Props) {
  const { request, session_id, title, since } = pending;
  const decide = useDecide(session_id);
  const isApproval = request.type === "approval_request";
  const Icon = isApproval ? ShieldQuestion : CircleHelp;
  return (
    <li className={`min-w-0 rounded-lg border bg-panel ${isChosen ? "border-accent" : ""}`}>
      <button
        type="button"
        data-head
        aria-expanded={isChosen}
        onClick={onChoose}
        className="flex w-full min-w-0 items-center gap-2 rounded-lg px-3 py-2 text-left"
      >
        <Icon aria-hidden="true" className="size-4 shrink-0 text-accent" />
        <span className="min-w-0 flex-1 truncate">
          <span className="sr-only">{isApproval ? "Approval: " : "Question: "}</span>
          {visibleLine(isApproval ? request.title : request.prompt)}
        </span>
        {isApproval && request.risk ? (
          <Tag tone={request.risk === "high" ? "bad" : "warn"}>{request.risk} risk</Tag>
        ) : null}
        <span className="text-xs">
          <When at={since} />
        </span>
      </button>
      {isChosen ? (
        <div className="grid min-w-0 gap-3 border-t px-3 py-3">
          <p className="text-xs text-muted">
            From{" "}
            <Link
              to={`/sessions/${session_id}`}
              search={{ request: request.request_id }}
              className="text-accent underline"
            >
              {visibleLine(title)}
            </Link>{" "}
            ·{" "}
            <code className="font-mono">{visibleLine(request.key.replace(/^#gate\/(.+)\/\d+$/, "$1"))}</code>
          </p>
          <RequestCard sessionId={session_id} request={request} decide={decide} hasKeys />
        </div>
      ) : null}
    </li>
  );
}
