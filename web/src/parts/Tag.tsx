import type { ReactNode } from "react";

const TONES = {
  quiet: "border-line text-muted",
  warn: "border-warn text-warn",
  bad: "border-bad text-bad",
  live: "border-live text-live",
};

export function Tag({ tone = "quiet", children }: { tone?: keyof typeof TONES; children: ReactNode }) {
  return (
    <span
      className={`inline-flex items-center whitespace-nowrap rounded border px-1.5 text-xs leading-5 ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}
