/** What somebody began to type stays when the card goes away and comes back, as it does after a refusal. */
import { useState } from "react";

const drafts = new Map<string, string>();

export function useDraft(name: string, initial = ""): [string, (text: string) => void] {
  const [text, setText] = useState(() => drafts.get(name) ?? initial);
  const keep = (next: string) => {
    drafts.set(name, next);
    setText(next);
  };
  return [text, keep];
}
