import { useQuery } from "@tanstack/react-query";
import { WifiOff } from "lucide-react";
import { asProblem } from "@/wire/problem";
import { inboxQuery } from "@/wire/queries";

/** Says so when the server cannot be reached; the inbox asks often enough to know. */
export function OfflineBanner() {
  const { failureReason, fetchStatus } = useQuery(inboxQuery);
  const isLost =
    fetchStatus === "paused" || (failureReason !== null && asProblem(failureReason).isUnreachable);
  return (
    <div aria-live="polite">
      {isLost ? (
        <p className="flex items-center justify-center gap-2 bg-warn-soft px-3 py-1.5 text-warn">
          <WifiOff aria-hidden="true" className="size-4" />
          {fetchStatus === "paused" ? "You are offline." : "The server cannot be reached."} What you see may
          be old; this page goes on by itself.
        </p>
      ) : null}
    </div>
  );
}
