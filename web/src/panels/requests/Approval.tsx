import { useQuery } from "@tanstack/react-query";
import { ShieldAlert } from "lucide-react";
import { useState } from "react";
import { Button } from "@/parts/Button";
import { CopyButton } from "@/parts/CopyButton";
import { Failed } from "@/parts/Faces";
import { useKeys } from "@/parts/keys";
import { Tag } from "@/parts/Tag";
import { mixedWords, readable, visible, visibleLine } from "@/parts/visible";
import { asideQuery } from "@/wire/queries";
import type { ApprovalRequest } from "@/wire/types";
import { Reason } from "./Reason";
import type { RequestProps } from "./RequestCard";
import { ruleInWords } from "./rule";
import { ShownCall } from "./ShownCall";

/** Exactly what is to be approved; the decision carries the digest of what was shown. */
export function Approval({ sessionId, request, decide, hasKeys }: RequestProps<ApprovalRequest>) {
  const [isRejecting, setRejecting] = useState(false);
  const apart = request.aside?.shown;
  const whole = useQuery({ ...asideQuery(sessionId, apart?.digest ?? ""), enabled: false });
  const isUnseen = apart !== undefined && whole.data === undefined;
  const decision = { request_id: request.request_id, digest: request.digest };
  const approve = (remember?: "session") =>
    isUnseen ? undefined : void decide({ type: "approve", data: { ...decision, remember } });
  const reject = (reason: string) =>
    void decide({ type: "reject", data: { ...decision, reason: reason || null } });
  useKeys(hasKeys && !isRejecting ? { a: () => approve(), r: () => setRejecting(true) } : {});

  return (
    <div className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 font-semibold break-words">{visibleLine(request.title)}</h2>
        {request.risk ? <Tag tone={request.risk === "high" ? "bad" : "warn"}>{request.risk} risk</Tag> : null}
      </div>
      {request.why ? <p className="break-words text-muted">{visible(request.why)}</p> : null}
      <LookAlikes text={`${request.title} ${readable(request.shown)}`} />
      {apart === undefined ? (
        <ShownCall shown={request.shown} />
      ) : whole.data === undefined ? (
        <div className="flex flex-wrap items-center gap-2 rounded-md border bg-ground p-3">
          <p className="text-muted">
            What is to be approved has {apart.bytes.toLocaleString()} bytes. Look at it before you decide.
          </p>
          <Button onClick={() => void whole.refetch()} disabled={whole.isFetching}>
            {whole.isFetching ? "Loading…" : "Show it"}
          </Button>
          {whole.error ? <Failed error={whole.error} /> : null}
        </div>
      ) : (
        <ShownCall shown={whole.data} />
      )}
      <p className="flex items-center gap-1 text-xs text-muted">
        Digest <code className="font-mono">{request.digest.slice(0, 12)}</code>
        <CopyButton text={request.digest} what="digest" />
      </p>
      {request.offers && !isRejecting ? (
        <p className="text-xs break-words text-muted">
          “Always” remembers, for this session only: {visibleLine(ruleInWords(request.offers))}
        </p>
      ) : null}
      {isRejecting ? (
        <Reason name={request.request_id} onSend={reject} onCancel={() => setRejecting(false)} />
      ) : (
        // However long what is shown: the decision is always at hand.
        <div className="sticky bottom-0 -mx-3 -mb-3 flex flex-wrap gap-2 rounded-b-lg border-t bg-panel px-3 py-2">
          <Button look="primary" keys="a" disabled={isUnseen} onClick={() => approve()}>
            Approve
          </Button>
          <Button look="danger" keys="r" onClick={() => setRejecting(true)}>
            Reject
          </Button>
          {request.offers ? (
            <Button
              disabled={isUnseen}
              onClick={() => approve("session")}
              title={ruleInWords(request.offers)}
            >
              Always in this session
            </Button>
          ) : null}
        </div>
      )}
    </div>
  );
}

function LookAlikes({ text }: { text: string }) {
  const words = mixedWords(text).slice(0, 5);
  if (words.length === 0) return null;
  return (
    <p className="flex items-start gap-2 rounded-md bg-warn-soft p-2 text-warn">
      <ShieldAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
      <span>
        Letters of several alphabets in one word; it may not be the name it looks like: {words.join(", ")}
      </span>
    </p>
  );
}
