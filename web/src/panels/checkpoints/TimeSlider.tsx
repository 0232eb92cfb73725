import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { Button } from "@/parts/Button";
import { Failed, Loading } from "@/parts/Faces";
import { useRested } from "@/parts/rested";
import { visibleLine } from "@/parts/visible";
import { rewindQuery } from "@/wire/queries";
import type { CheckpointListed } from "@/wire/types";
import { FileChanges } from "./FileChanges";

type Props = {
  sessionId: string;
  places: readonly CheckpointListed[];
  isForking: boolean;
  onRewind: (seq: number) => void;
  onFork: (seq: number) => void;
};

/** Go through the session's places one by one, and see what a rewind there would do. */
export function TimeSlider({ sessionId, places, isForking, onRewind, onFork }: Props) {
  const id = useId();
  const [chosen, setChosen] = useState<number | null>(null);
  const last = places.length - 1;
  const found = places.findLastIndex((place) => chosen !== null && place.seq <= chosen);
  const at = found < 0 ? last : found;
  const place = places[at];
  if (place === undefined) return null;
  const name = visibleLine(place.name);
  return (
    <section aria-label="Go back in time" className="grid gap-2 border-b p-3">
      <label htmlFor={id} className="text-xs font-medium">
        Go back in time
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={last}
        value={at}
        aria-valuetext={`${name}, event ${place.seq}, place ${at + 1} of ${places.length}`}
        onChange={(event) => setChosen(places[Number(event.target.value)]?.seq ?? null)}
        className="w-full accent-accent"
      />
      <div className="flex flex-wrap items-center gap-2">
        <a href={`#event-${place.seq}`} className="min-w-0 flex-1 truncate hover:underline">
          {name} <span className="font-mono text-xs text-muted">#{place.seq}</span>
        </a>
        {chosen === null ? null : (
          <>
            <Button onClick={() => onRewind(place.seq)}>Rewind here</Button>
            <Button look="quiet" disabled={isForking} onClick={() => onFork(place.seq)}>
              Fork here
            </Button>
          </>
        )}
      </div>
      {chosen === null ? null : <Preview sessionId={sessionId} seq={place.seq} />}
    </section>
  );
}

/** Asked for once the slider rests. */
function Preview({ sessionId, seq }: { sessionId: string; seq: number }) {
  const rested = useRested(seq);
  const preview = useQuery({ ...rewindQuery(sessionId, rested), placeholderData: (before) => before });
  if (preview.isPending) return <Loading what="what a rewind would do" />;
  if (preview.isError) return <Failed error={preview.error} retry={() => void preview.refetch()} />;
  return (
    <div aria-busy={preview.isFetching} className={preview.isPlaceholderData ? "opacity-60" : ""}>
      <p className="mb-1 text-xs text-muted">A rewind would do this to the files:</p>
      <FileChanges changes={preview.data} />
    </div>
  );
}
