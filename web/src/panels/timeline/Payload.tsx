import { useQuery } from "@tanstack/react-query";
import { Button } from "@/parts/Button";
import { CodeBlock } from "@/parts/CodeBlock";
import { Failed } from "@/parts/Faces";
import { asideQuery } from "@/wire/queries";
import type { EnvelopeOf } from "@/wire/types";
import { OutcomeShown } from "./OutcomeShown";
import { readGave, readGiven } from "./outcomes";

type Props = { event: EnvelopeOf<"step">; field: "input" | "output"; label: string };

/** What went into a step or came out of it; a large one is fetched on request. */
export function Payload({ event, field, label }: Props) {
  const apart = event.data.aside?.[field];
  const whole = useQuery({ ...asideQuery(event.session_id, apart?.digest ?? ""), enabled: false });
  const value = apart ? whole.data : event.data[field];
  if (value !== undefined) return <Told tool={event.data.name} field={field} value={value} label={label} />;
  if (!apart) return null;
  return (
    <div className="flex items-center gap-2 text-xs text-muted">
      {label}: {apart.bytes.toLocaleString()} bytes
      <Button onClick={() => void whole.refetch()} disabled={whole.isFetching}>
        {whole.isFetching ? "Loading…" : "Show"}
      </Button>
      {whole.error ? <Failed error={whole.error} /> : null}
    </div>
  );
}

type ToldProps = Pick<Props, "field" | "label"> & { tool: string; value: unknown };

function Told({ tool, field, value, label }: ToldProps) {
  const outcome = (field === "input" ? readGiven : readGave)(tool, value);
  if (outcome === null) return <CodeBlock value={value} label={label} />;
  return (
    <>
      <OutcomeShown outcome={outcome} />
      <details className="min-w-0">
        <summary className="cursor-pointer text-xs text-muted hover:text-ink">
          {label} as it is recorded
        </summary>
        <div className="mt-2">
          <CodeBlock value={value} label={label} />
        </div>
      </details>
    </>
  );
}
