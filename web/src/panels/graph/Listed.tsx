import { type ReactNode, useState } from "react";

type Props<Item> = {
  title: string;
  items: readonly Item[];
  /** How many there are, should not all have been sent. */
  total?: number;
  about?: string;
  name: (item: Item) => string;
  children: (item: Item) => ReactNode;
};

const FEW = 8;

/** A list with a heading that begins short; nothing where there is nothing. */
export function Listed<Item>({ title, items, total = items.length, about, name, children }: Props<Item>) {
  const [isWhole, setWhole] = useState(false);
  if (items.length === 0) return null;
  const shown = isWhole ? items : items.slice(0, FEW);
  return (
    <section aria-label={title} className="grid min-w-0 gap-1">
      <h3 className="flex items-baseline gap-2 font-medium">
        {title}
        <span className="text-xs font-normal text-muted">{total.toLocaleString()}</span>
      </h3>
      {about ? <p className="text-xs text-muted">{about}</p> : null}
      <ol className="divide-y divide-line/60 rounded-md border bg-panel">
        {shown.map((item) => (
          <li key={name(item)} className="grid min-w-0 gap-0.5 px-2.5 py-1.5">
            {children(item)}
          </li>
        ))}
      </ol>
      {items.length > shown.length ? (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="min-h-8 justify-self-start rounded px-1 text-xs text-accent hover:underline"
        >
          Show all {items.length.toLocaleString()}
        </button>
      ) : null}
    </section>
  );
}
