import { FileDiff as FileIcon, Undo2 } from "lucide-react";
import { useMemo, useState } from "react";
import { toast } from "sonner";
import { Button } from "@/parts/Button";
import { CopyButton } from "@/parts/CopyButton";
import { Empty } from "@/parts/Faces";
import { showProblem } from "@/parts/showProblem";
import type { CodeChange } from "@/wire/change";
import { asProblem } from "@/wire/problem";
import { FileView } from "./FileView";
import { chosenPatch, filesOf, type LeftOut, namesIn, objection, switched } from "./selection";

type Props = { changes: readonly CodeChange[]; onObject: ((text: string) => Promise<void>) | null };

/** The change file by file; what is not wanted can be left out of a patch, or sent back. */
export function DiffViewer({ changes, onObject }: Props) {
  const files = useMemo(() => filesOf(changes), [changes]);
  const [leftOut, setLeftOut] = useState<LeftOut>(new Set());
  const names = files.flatMap(namesIn);
  const chosen = names.filter((name) => !leftOut.has(name)).length;
  if (files.length === 0) {
    return (
      <Empty icon={FileIcon} title="Nothing has been changed yet">
        Each file appears here once it is edited.
      </Empty>
    );
  }
  const object = () =>
    onObject?.(objection(files, leftOut))
      .then(() => void toast("Sent. The session takes it up at its next turn."))
      .catch((error: unknown) => showProblem(asProblem(error)));
  return (
    <div className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <p aria-live="polite" className="flex-1 text-muted">
          {files.length === 1 ? "1 file" : `${files.length.toLocaleString()} files`}, {chosen} of{" "}
          {names.length} {names.length === 1 ? "part" : "parts"} chosen
        </p>
        <span className="inline-flex items-center text-xs text-muted">
          Patch of these
          <CopyButton text={chosenPatch(files, leftOut)} what="patch of what is chosen" />
        </span>
        {onObject ? (
          <Button disabled={chosen === names.length} onClick={() => void object()}>
            <Undo2 aria-hidden="true" className="size-4" />
            Send the rest back
          </Button>
        ) : null}
      </div>
      {files.map((file) => (
        <FileView
          key={file.path}
          file={file}
          leftOut={leftOut}
          onChoose={(chosenNames, isChosen) => setLeftOut(switched(leftOut, chosenNames, isChosen))}
        />
      ))}
    </div>
  );
}
