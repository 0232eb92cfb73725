import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { type KeyboardEvent, useId, useRef, useState } from "react";
import { INPUT } from "@/parts/Field";
import { Kbd } from "@/parts/Kbd";
import { useKeys } from "@/parts/keys";
import { useRested } from "@/parts/rested";
import { Tag } from "@/parts/Tag";
import { visible } from "@/parts/visible";
import { asProblem } from "@/wire/problem";
import { graphQuery } from "@/wire/queries";
import type { CodeSymbol, Repository } from "@/wire/types";
import type { Choose } from "./useView";
import { placeWords, shortId } from "./words";

const MOST = 12;

/** Find a symbol by its name: / to begin, arrows and Enter to choose. */
export function SymbolSearch({ repo, choose }: { repo: Repository; choose: Choose }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const list = useId();
  const q = useRested(text.trim());
  const found = useQuery({
    ...graphQuery(repo, "symbols", { q, limit: MOST }),
    enabled: q !== "",
    placeholderData: keepPreviousData,
  });
  const symbols = text.trim() && q ? (found.data?.symbols ?? []).map(({ symbol }) => symbol) : [];
  const isShown = isOpen && text.trim() !== "" && q !== "" && !found.isPending;
  useKeys({ "/": () => input.current?.focus() });

  const take = (symbol: CodeSymbol | undefined) => {
    if (symbol === undefined) return;
    choose(symbol.id);
    setOpen(false);
    setText("");
    input.current?.blur();
  };
  const press = (event: KeyboardEvent) => {
    const acts: Record<string, () => void> = {
      ArrowDown: () => setAt((at + 1) % Math.max(symbols.length, 1)),
      ArrowUp: () => setAt((at + symbols.length - 1) % Math.max(symbols.length, 1)),
      Enter: () => take(symbols[Math.min(at, symbols.length - 1)]),
      Escape: () => (isOpen && text ? setOpen(false) : input.current?.blur()),
    };
    const act = acts[event.key];
    if (act === undefined || event.nativeEvent.isComposing) return;
    event.preventDefault();
    act();
  };
  return (
    <search className="relative min-w-0 flex-1">
      <Search aria-hidden="true" className="absolute top-1/2 left-2 size-4 -translate-y-1/2 text-muted" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label="Search a symbol"
        aria-keyshortcuts="/"
        aria-expanded={isShown}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isShown && symbols.length > 0 ? `${list}-${at}` : undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder="Search a symbol…"
        maxLength={500}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
        className={`${INPUT} pr-8 pl-8`}
      />
      <span className="absolute top-1/2 right-2 -translate-y-1/2 text-muted">
        <Kbd>/</Kbd>
      </span>
      <div
        className={`absolute inset-x-0 top-full z-20 mt-1 max-h-[60dvh] overflow-y-auto rounded-md border bg-panel shadow-lg ${isShown ? "" : "hidden"}`}
      >
        {isShown && symbols.length === 0 ? (
          <p className="p-3 text-muted">{found.isError ? saying(found.error) : "Nothing by that name."}</p>
        ) : null}
        <div id={list} role="listbox" aria-label="Symbols" className="p-1">
          {isShown
            ? symbols.map((symbol, place) => (
                <Option
                  key={symbol.id}
                  id={`${list}-${place}`}
                  symbol={symbol}
                  isAt={place === at}
                  onTake={() => take(symbol)}
                  onPoint={() => setAt(place)}
                />
              ))
            : null}
        </div>
      </div>
      <span aria-live="polite" className="sr-only">
        {isShown ? `${symbols.length} found` : ""}
      </span>
    </search>
  );
}

type OptionProps = {
  id: string;
  symbol: CodeSymbol;
  isAt: boolean;
  onTake: () => void;
  onPoint: () => void;
};

function Option({ id, symbol, isAt, onTake, onPoint }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
    <div
      id={id}
      role="option"
      aria-selected={isAt}
      onPointerDown={(event) => event.preventDefault()}
      onPointerMove={onPoint}
      onClick={onTake}
      className="grid cursor-pointer gap-0.5 rounded px-2 py-1.5 aria-selected:bg-raised"
    >
      <span className="flex min-w-0 items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-mono text-xs">{shortId(symbol.id)}</span>
        <Tag>{symbol.kind}</Tag>
      </span>
      <span className="truncate font-mono text-xs text-muted">{placeWords(symbol)}</span>
    </div>
  );
}

const saying = (error: unknown) => visible(asProblem(error).detail);
