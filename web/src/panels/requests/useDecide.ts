/** Decisions made outside a session's own page: gone from the inbox at once, back again if the server refuses. */
import { useQueryClient } from "@tanstack/react-query";
import { toast } from "sonner";
import { showProblem } from "@/parts/showProblem";
import { tell } from "@/wire/client";
import { asProblem } from "@/wire/problem";
import { inboxQuery } from "@/wire/queries";
import type { Command } from "@/wire/types";

export type Decide = (command: Command) => Promise<void>;

export function useDecide(sessionId: string): Decide {
  const queries = useQueryClient();
  return async (command) => {
    const request = "request_id" in command.data ? command.data.request_id : null;
    await queries.cancelQueries({ queryKey: inboxQuery.queryKey });
    const before = queries.getQueryData(inboxQuery.queryKey);
    queries.setQueryData(inboxQuery.queryKey, (all) =>
      all?.filter((one) => one.request.request_id !== request),
    );
    try {
      await tell(sessionId, command);
      toast(DONE[command.type] ?? "Sent");
    } catch (error) {
      queries.setQueryData(inboxQuery.queryKey, before);
      showProblem(asProblem(error));
    } finally {
      void queries.invalidateQueries({ queryKey: inboxQuery.queryKey });
    }
  };
}

const DONE: Partial<Record<Command["type"], string>> = {
  approve: "Approved",
  reject: "Rejected",
  user_response: "Answered",
};
