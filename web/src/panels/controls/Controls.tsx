import { useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { showProblem } from "@/parts/showProblem";
import { asProblem } from "@/wire/problem";
import type { Command, Status } from "@/wire/types";
import type { SessionPanelProps } from "../session";

type Verb = "pause" | "resume" | "interrupt" | "cancel";

const STARTABLE: readonly Status[] = ["queued", "running", "waiting"];
const ALLOWED: Record<Verb, readonly Status[]> = {
  pause: STARTABLE,
  interrupt: STARTABLE,
  resume: ["paused", "interrupted", "expired"],
  cancel: ["queued", "running", "waiting", "paused", "interrupted", "expired"],
};
const SAYS: Record<Verb, { word: string; about: string }> = {
  pause: { word: "Pause", about: "Begin nothing new; the current step ends" },
  resume: { word: "Resume", about: "Go on" },
  interrupt: { word: "Interrupt", about: "Stop the current step now" },
  cancel: { word: "Cancel", about: "End the session for good" },
};

/** Stop it, let it go on, end it: whatever its status allows. */
export function Controls({ live, session }: SessionPanelProps) {
  const [isCancelling, setCancelling] = useState(false);
  const status = live.intended ?? live.state.status;
  const tell = (type: Verb) => {
    setCancelling(false);
    const command: Command = { type, data: {} };
    session.tell(command).catch((error) => showProblem(asProblem(error)));
  };
  const verbs = (Object.keys(ALLOWED) as Verb[]).filter((verb) => ALLOWED[verb].includes(status));
  const isReady = live.connection === "open" && live.intended === null;
  return (
    <div className="flex flex-wrap gap-2">
      {verbs.map((verb) => (
        <Button
          key={verb}
          look={verb === "resume" ? "primary" : verb === "cancel" ? "danger" : "plain"}
          title={SAYS[verb].about}
          disabled={!isReady}
          onClick={() => (verb === "cancel" ? setCancelling(true) : tell(verb))}
        >
          {SAYS[verb].word}
        </Button>
      ))}
      <Dialog
        title="Cancel this session?"
        about="It ends for good. What was done stays done; you can still rewind or fork it."
        isOpen={isCancelling}
        onClose={() => setCancelling(false)}
      >
        <div className="flex gap-2">
          <Button look="danger" onClick={() => tell("cancel")}>
            Cancel the session
          </Button>
          <Button onClick={() => setCancelling(false)}>Keep it</Button>
        </div>
      </Dialog>
    </div>
  );
}
