import { Button } from "@/parts/Button";
import { relative } from "@/parts/time";
import { useNow } from "@/parts/When";
import { sinceInWords } from "@/session/since";
import type { SessionPanelProps } from "../session";

/** What happened since you left. */
export function Since({ live, session }: SessionPanelProps) {
  const now = useNow();
  const { seen, state, story } = live;
  if (seen === null || state.seq <= seen.seq) return null;
  const left = relative(new Date(seen.at).toISOString(), now);
  return (
    <div className="flex flex-wrap items-center gap-2 border-b bg-accent-soft px-3 py-2">
      <p className="min-w-0 flex-1">
        <strong className="font-semibold">Since you left, {left}:</strong>{" "}
        {sinceInWords(story.since(seen.seq), state.seq - seen.seq)}
      </p>
      <a href={`#event-${seen.seq + 1}`} className="text-accent underline">
        Show from there
      </a>
      <Button look="quiet" onClick={session.forgetSeen}>
        Dismiss
      </Button>
    </div>
  );
}
