import type { ReactNode } from "react";

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <span
      aria-hidden="true"
      className="hidden rounded border border-current/30 px-1 font-mono text-[0.7rem] leading-4 md:inline"
    >
      {children}
    </span>
  );
}
