import { Send } from "lucide-react";
import { useState } from "react";
import { Button } from "@/parts/Button";
import { INPUT } from "@/parts/Field";
import { showProblem } from "@/parts/showProblem";
import { asProblem } from "@/wire/problem";
import type { SessionPanelProps } from "../session";

/** Say something to a session that has not ended; what a refusal sends back is not lost. */
export function Composer({ session }: SessionPanelProps) {
  const [text, setText] = useState("");
  const send = async () => {
    setText("");
    try {
      await session.tell({ type: "message", data: { text } });
    } catch (error) {
      setText(text);
      showProblem(asProblem(error));
    }
  };
  return (
    <form
      className="flex gap-2 border-t bg-panel p-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) void send();
      }}
    >
      <input
        aria-label="Say something to the session"
        placeholder="Say something to the session…"
        maxLength={10_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        className={INPUT}
      />
      <Button type="submit" aria-label="Send" disabled={!text.trim()}>
        <Send aria-hidden="true" className="size-4" />
      </Button>
    </form>
  );
}
