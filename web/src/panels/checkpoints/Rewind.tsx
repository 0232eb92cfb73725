import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "@/parts/Button";
import { Dialog } from "@/parts/Dialog";
import { Failed, Loading } from "@/parts/Faces";
import { rewind } from "@/wire/client";
import { rewindQuery } from "@/wire/queries";
import type { Status } from "@/wire/types";
import { FileChanges } from "./FileChanges";

type Props = { sessionId: string; seq: number; status: Status; onClose: () => void };

/** What a rewind would do to the files, before it does it. */
export function Rewind({ sessionId, seq, status, onClose }: Props) {
  const [withFiles, setWithFiles] = useState(true);
  const preview = useQuery(rewindQuery(sessionId, seq));
  const rewinding = useMutation({ mutationFn: () => rewind(sessionId, seq, withFiles), onSuccess: onClose });
  const isBusy = status === "running" || status === "queued";
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Rewind to event ${seq}?`}
      about="What came after it no longer counts, but stays in the log. The session is paused then."
    >
      <div className="grid gap-3">
        {preview.isPending ? <Loading what="what it would do to the files" /> : null}
        {preview.isError ? <Failed error={preview.error} retry={() => void preview.refetch()} /> : null}
        {preview.data ? <FileChanges changes={preview.data} /> : null}
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={withFiles}
            onChange={(event) => setWithFiles(event.target.checked)}
            className="size-4 accent-accent"
          />
          Bring the files back too
        </label>
        {isBusy ? <p className="text-warn">The session is {status}. Pause it first, then rewind.</p> : null}
        {rewinding.error ? <Failed error={rewinding.error} /> : null}
        <div className="flex gap-2">
          <Button look="danger" disabled={isBusy || rewinding.isPending} onClick={() => rewinding.mutate()}>
            {rewinding.isPending ? "Rewinding…" : "Rewind"}
          </Button>
          <Button onClick={onClose}>Keep it as it is</Button>
        </div>
      </div>
    </Dialog>
  );
}
