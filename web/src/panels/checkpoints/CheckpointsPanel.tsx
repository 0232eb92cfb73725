import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Flag } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";
import { Button } from "@/parts/Button";
import { Empty } from "@/parts/Faces";
import { INPUT } from "@/parts/Field";
import { showProblem } from "@/parts/showProblem";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { placesOf } from "@/session/places";
import { fork, makeCheckpoint } from "@/wire/client";
import { asProblem } from "@/wire/problem";
import type { SessionPanelProps } from "../session";
import { Rewind } from "./Rewind";
import { TimeSlider } from "./TimeSlider";

const MOST = 200;

/** The places to go back to, or to begin another session from. */
export default function CheckpointsPanel({ live }: SessionPanelProps) {
  const { id } = live.state;
  const places = placesOf(live.state);
  const shown = places.slice(-MOST).reverse();
  const [target, setTarget] = useState<number | null>(null);
  const navigate = useNavigate();
  const forking = useMutation({
    mutationFn: (seq: number) => fork(id, seq),
    onSuccess: (started) => void navigate({ to: `/sessions/${started.session_id}` }),
    onError: (error) => showProblem(asProblem(error)),
  });
  return (
    <>
      <NameThisPlace sessionId={id} />
      {places.length > 1 ? (
        <TimeSlider
          sessionId={id}
          places={places}
          isForking={forking.isPending}
          onRewind={setTarget}
          onFork={forking.mutate}
        />
      ) : null}
      {places.length === 0 ? (
        <Empty icon={Flag} title="No checkpoints yet">
          Every step that ends is one; you can also name a place yourself.
        </Empty>
      ) : (
        <ol className="divide-y divide-line/60">
          {shown.map((place) => (
            <li key={`${place.seq}-${place.name}`} className="flex flex-wrap items-center gap-2 px-3 py-1.5">
              <a href={`#event-${place.seq}`} className="min-w-0 flex-1 truncate hover:underline">
                {visibleLine(place.name)}
              </a>
              {place.kind === "named" ? <Tag tone="live">named</Tag> : null}
              <span className="font-mono text-xs text-muted">#{place.seq}</span>
              <Button
                onClick={() => setTarget(place.seq)}
                aria-label={`Rewind to ${visibleLine(place.name)}`}
              >
                Rewind
              </Button>
              <Button
                look="quiet"
                disabled={forking.isPending}
                onClick={() => forking.mutate(place.seq)}
                aria-label={`Fork from ${visibleLine(place.name)}`}
              >
                Fork
              </Button>
            </li>
          ))}
        </ol>
      )}
      {shown.length < places.length ? (
        <p className="p-3 text-xs text-muted">
          The last {MOST} of {places.length.toLocaleString()}. Older ones: `belayer rewind {id.slice(0, 13)}{" "}
          SEQ`.
        </p>
      ) : null}
      {target === null ? null : (
        <Rewind sessionId={id} seq={target} status={live.state.status} onClose={() => setTarget(null)} />
      )}
    </>
  );
}

function NameThisPlace({ sessionId }: { sessionId: string }) {
  const [name, setName] = useState("");
  const naming = useMutation({
    mutationFn: () => makeCheckpoint(sessionId, name),
    onSuccess: () => {
      toast(`Checkpoint “${name}” made`);
      setName("");
    },
    onError: (error) => showProblem(asProblem(error)),
  });
  return (
    <form
      className="flex gap-2 border-b p-2"
      onSubmit={(event) => {
        event.preventDefault();
        naming.mutate();
      }}
    >
      <input
        aria-label="Name for this place"
        placeholder="Name this place…"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.target.value)}
        className={INPUT}
      />
      <Button type="submit" disabled={!name || naming.isPending}>
        Make checkpoint
      </Button>
    </form>
  );
}
