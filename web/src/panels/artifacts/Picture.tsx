import { useState } from "react";
import { Dialog } from "@/parts/Dialog";
import { visibleLine } from "@/parts/visible";
import { artifactPath } from "@/wire/client";

type Props = { session: string; name: string; step: string };

const PICTURES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

export const isPicture = (mediaType: string) => PICTURES.includes(mediaType);

/** A picture that a step has made; pressed, as large as the window allows. */
export function Picture({ session, name, step }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken)
    return <p className="text-xs text-muted">This picture cannot be shown; it can be downloaded.</p>;
  const alt = `Made by the step ${visibleLine(step)}`;
  const shown = { src: artifactPath(session, name), onError: () => setBroken(true) };
  return (
    <>
      <button
        type="button"
        title="Show it larger"
        onClick={() => setOpen(true)}
        className="justify-self-start overflow-hidden rounded border hover:border-accent"
      >
        <img {...shown} alt={alt} loading="lazy" className="max-h-64 min-h-4" />
      </button>
      <Dialog title={visibleLine(name)} isOpen={isOpen} onClose={() => setOpen(false)} isWide>
        <img {...shown} alt={alt} className="mx-auto rounded border" />
      </Dialog>
    </>
  );
}
