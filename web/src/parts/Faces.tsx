/** The faces that every panel has besides the working one: loading, empty, failed. */
import { CircleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { asProblem } from "@/wire/problem";
import { Button } from "./Button";
import { visible } from "./visible";

export function Loading({ what }: { what: string }) {
  return (
    <div role="status" className="grid gap-2 p-4">
      <span className="sr-only">Loading {what}</span>
      {["w-2/3", "w-full", "w-5/6"].map((width) => (
        <div key={width} className={`h-4 motion-safe:animate-pulse rounded bg-raised ${width}`} />
      ))}
    </div>
  );
}

type EmptyProps = { icon: LucideIcon; title: string; children?: ReactNode };

export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <div className="grid justify-items-center gap-2 px-4 py-12 text-center">
      <Icon aria-hidden="true" className="size-8 text-muted" />
      <p className="font-medium">{title}</p>
      <div className="max-w-prose text-muted">{children}</div>
    </div>
  );
}

type FailedProps = { error: unknown; retry?: () => void };

/** What happened, what it means, what to do. */
export function Failed({ error, retry }: FailedProps) {
  const problem = asProblem(error);
  const hint =
    problem.status === 401
      ? "Open the link that `belayer serve` printed; it signs this browser in."
      : problem.hint;
  return (
    <div role="alert" className="m-3 flex gap-2 rounded-md border border-bad bg-bad-soft p-3">
      <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="grid min-w-0 gap-1">
        <p className="font-medium break-words text-bad">{visible(problem.detail)}</p>
        {hint ? <p className="break-words text-ink">{visible(hint)}</p> : null}
        {retry ? (
          <Button onClick={retry} className="mt-1 justify-self-start">
            Try again
          </Button>
        ) : null}
      </div>
    </div>
  );
}
