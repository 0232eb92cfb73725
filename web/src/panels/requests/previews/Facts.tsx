import type { ReactNode } from "react";
import { readable, visible, visibleLine } from "@/parts/visible";

/** Names and what they stand for, one under the other. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-3 gap-y-1">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="max-w-28 text-xs break-words text-muted">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}

/** The parameters that nothing else on the card shows, under their own names. */
export function OtherParams({ params, shown }: { params: unknown; shown: readonly string[] }) {
  if (typeof params !== "object" || params === null) return null;
  return Object.entries(params)
    .filter(([name]) => !shown.includes(name))
    .map(([name, value]) => (
      <Fact key={name} name={visibleLine(name)}>
        <Exact>{readable(value)}</Exact>
      </Fact>
    ));
}

export function Exact({ children }: { children: string }) {
  return <code className="font-mono text-xs break-words whitespace-pre-wrap">{visible(children)}</code>;
}
