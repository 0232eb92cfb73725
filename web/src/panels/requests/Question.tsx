import { useRef, useState } from "react";
import { useKeys } from "@/parts/keys";
import { Tag } from "@/parts/Tag";
import { visible } from "@/parts/visible";
import type { InputRequest } from "@/wire/types";
import { ChoiceAnswer } from "./ChoiceAnswer";
import { ConfirmAnswer } from "./ConfirmAnswer";
import { EditParams } from "./EditParams";
import { FormAnswer } from "./FormAnswer";
import type { RequestProps } from "./RequestCard";
import { TextAnswer } from "./TextAnswer";

export type AnswerProps = { request: InputRequest; onAnswer: (value: unknown) => void; hasKeys: boolean };

const PURPOSES = { in_doubt: "in doubt", budget: "budget", failure: "failure" };

/** A question and the control that its kind of answer needs. */
export function Question({ sessionId, request, decide, hasKeys }: RequestProps<InputRequest>) {
  const [isEditing, setEditing] = useState(false);
  const card = useRef<HTMLDivElement>(null);
  const onAnswer = (value: unknown) =>
    void decide({ type: "user_response", data: { request_id: request.request_id, value } });
  const canEdit = request.purpose === "failure" && (request.choices ?? []).includes("edit");
  const keys = { enter: () => focusFirst(card.current), ...(canEdit ? { e: () => setEditing(true) } : {}) };
  useKeys(hasKeys && !isEditing ? keys : {});

  return (
    <div ref={card} className="grid min-w-0 gap-3">
      {request.purpose && request.purpose !== "question" ? (
        <div>
          <Tag tone={request.purpose === "budget" ? "warn" : "bad"}>{PURPOSES[request.purpose]}</Tag>
        </div>
      ) : null}
      <p className="font-medium break-words whitespace-pre-wrap">{visible(request.prompt)}</p>
      {request.problem?.hint ? (
        <p className="break-words text-muted">{visible(request.problem.hint)}</p>
      ) : null}
      {isEditing ? (
        <EditParams
          sessionId={sessionId}
          request={request}
          onSend={(params) => onAnswer({ choice: "edit", params })}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <Answer request={request} onAnswer={onAnswer} hasKeys={hasKeys} onEdit={() => setEditing(true)} />
      )}
    </div>
  );
}

function Answer({ onEdit, ...props }: AnswerProps & { onEdit: () => void }) {
  switch (props.request.kind ?? "text") {
    case "confirm":
      return <ConfirmAnswer {...props} />;
    case "choice":
      return <ChoiceAnswer {...props} onEdit={onEdit} />;
    case "form":
      return <FormAnswer {...props} />;
    case "text":
    case "file":
      return <TextAnswer {...props} />;
  }
}

function focusFirst(card: HTMLElement | null): void {
  card?.querySelector<HTMLElement>("input:checked, input, textarea, select, button")?.focus();
}
