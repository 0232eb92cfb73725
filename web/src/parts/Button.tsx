import type { ComponentProps } from "react";
import { Kbd } from "./Kbd";

type Look = "plain" | "primary" | "danger" | "quiet";
type Props = ComponentProps<"button"> & { look?: Look; keys?: string };

const LOOKS: Record<Look, string> = {
  plain: "border bg-panel text-ink hover:bg-raised",
  primary: "border border-accent bg-accent text-accent-ink hover:opacity-90",
  danger: "border border-bad bg-panel text-bad hover:bg-bad-soft",
  quiet: "border border-transparent text-muted hover:bg-raised hover:text-ink",
};

function buttonLook(look: Look): string {
  return `inline-flex min-h-8 shrink-0 items-center justify-center gap-1.5 rounded-md px-2.5 py-1 text-sm font-medium disabled:opacity-50 ${LOOKS[look]}`;
}

export function Button({ look = "plain", keys, className = "", children, type = "button", ...rest }: Props) {
  return (
    <button type={type} className={`${buttonLook(look)} ${className}`} aria-keyshortcuts={keys} {...rest}>
      {children}
      {keys ? <Kbd>{keys}</Kbd> : null}
    </button>
  );
}
