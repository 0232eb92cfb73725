import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { toast } from "sonner";

/** Copies a text and says that it did. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      toast.error("This browser does not let the page copy. Select the text instead.");
    }
  };
  const Icon = copied ? Check : Copy;
  return (
    <button
      type="button"
      onClick={copy}
      aria-label={copied ? `Copied ${what}` : `Copy ${what}`}
      title={`Copy ${what}`}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded text-muted hover:bg-raised hover:text-ink"
    >
      <Icon aria-hidden="true" className="size-3.5" />
    </button>
  );
}
