import type { KeyboardEvent } from "react";

/** Enter sends; Shift+Enter begins a new line. */
export function isSend(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return false;
  event.preventDefault();
  return true;
}
