import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";

type Props = {
  title: string;
  about?: string;
  isOpen: boolean;
  onClose: () => void;
  isWide?: boolean;
  children: ReactNode;
};

/** A dialog that keeps the focus until it is closed, and gives it back. */
export function Dialog({ title, about, isOpen, onClose, isWide = false, children }: Props) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => (open ? undefined : onClose())}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          {...(about ? {} : { "aria-describedby": undefined })}
          className={`fixed top-[6dvh] left-1/2 z-50 flex max-h-[88dvh] w-[calc(100vw-1.5rem)] -translate-x-1/2 flex-col overflow-hidden rounded-lg border bg-panel shadow-xl ${isWide ? "max-w-3xl" : "max-w-lg"}`}
        >
          <header className="flex items-start justify-between gap-3 border-b px-4 py-3">
            <div>
              <Radix.Title className="font-semibold">{title}</Radix.Title>
              {about ? <Radix.Description className="text-muted">{about}</Radix.Description> : null}
            </div>
            <Radix.Close aria-label="Close" className="rounded p-1 text-muted hover:bg-raised hover:text-ink">
              <X aria-hidden="true" className="size-4" />
            </Radix.Close>
          </header>
          <div className="min-h-0 overflow-y-auto p-4">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
