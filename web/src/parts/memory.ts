/** What this browser remembers between visits; a browser that forbids it just forgets. */

export function recall<Value>(name: string): Value | null {
  try {
    const kept = window.localStorage.getItem(`belayer.${name}`);
    return kept === null ? null : (JSON.parse(kept) as Value);
  } catch {
    return null;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    window.localStorage.setItem(`belayer.${name}`, JSON.stringify(value));
  } catch {
    // Full or forbidden: nothing that matters is kept here.
  }
}
