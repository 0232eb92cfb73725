import { type ReactNode, useId } from "react";

export const INPUT =
  "w-full min-w-0 rounded-md border bg-ground px-2 py-1.5 text-sm text-ink aria-invalid:border-bad disabled:opacity-60";

type Props = {
  label: string;
  hint?: string;
  isRequired?: boolean;
  children: (given: { id: string; "aria-describedby"?: string }) => ReactNode;
};

/** A labelled control. */
export function Field({ label, hint, isRequired = false, children }: Props) {
  const id = useId();
  const describedBy = hint ? `${id}-hint` : undefined;
  return (
    <div className="grid min-w-0 content-start gap-1">
      <label htmlFor={id} className="text-xs font-medium">
        {label}
        {isRequired ? <span className="text-muted"> (required)</span> : null}
      </label>
      {children({ id, "aria-describedby": describedBy })}
      {hint ? (
        <p id={describedBy} className="text-xs text-muted">
          {hint}
        </p>
      ) : null}
    </div>
  );
}
