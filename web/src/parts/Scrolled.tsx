import type { ComponentProps } from "react";

/** Text that scrolls by itself; what scrolls can be reached by keyboard. */
export function Scrolled({ className, ...rest }: ComponentProps<"pre">) {
  return (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: else a keyboard could not scroll it
      tabIndex={0}
      className={`overflow-auto font-mono text-xs -outline-offset-2 ${className}`}
      {...rest}
    />
  );
}
