import type { PersonRequest } from "@/wire/types";
import { Approval } from "./Approval";
import { Question } from "./Question";
import type { Decide } from "./useDecide";

export type RequestProps<Request = PersonRequest> = {
  sessionId: string;
  request: Request;
  decide: Decide;
  /** Whether single keys are meant for this one. */
  hasKeys: boolean;
};

/** Something that only a person can say, and the means to say it. */
export function RequestCard({ request, ...rest }: RequestProps) {
  return request.type === "approval_request" ? (
    <Approval request={request} {...rest} />
  ) : (
    <Question request={request} {...rest} />
  );
}
