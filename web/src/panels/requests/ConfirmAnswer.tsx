import { Button } from "@/parts/Button";
import { useKeys } from "@/parts/keys";
import type { AnswerProps } from "./Question";

/** Yes or no. */
export function ConfirmAnswer({ onAnswer, hasKeys }: AnswerProps) {
  useKeys(hasKeys ? { a: () => onAnswer(true), r: () => onAnswer(false) } : {});
  return (
    <div className="flex gap-2">
      <Button look="primary" keys="a" onClick={() => onAnswer(true)}>
        Yes
      </Button>
      <Button look="danger" keys="r" onClick={() => onAnswer(false)}>
        No
      </Button>
    </div>
  );
}
