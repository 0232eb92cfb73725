import { useNavigation } from "@/pages/navigation";
import { Dialog } from "@/parts/Dialog";
import { useKeysSwitch } from "@/parts/keys";

const KEYS: readonly (readonly [string, string])[] = [
  ["j / k", "next / previous request"],
  ["a", "approve, or say yes"],
  ["r", "reject, or say no"],
  ["e", "edit the parameters of a step that failed"],
  ["Enter", "answer: go to the first field"],
  ["o", "open the session of the request"],
  ["n", "start a session"],
  ["Ctrl K or ⌘ K", "command palette"],
  ["/", "search a symbol, on the page of a graph"],
  ["?", "this help"],
];

/** The keys there are, and the switch that turns single ones off. */
export function KeyboardHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [isOn, switchKeys] = useKeysSwitch();
  const places = useNavigation().map(({ shortcut = "", title }) => [shortcut, `go to ${title}`] as const);
  return (
    <Dialog title="Keyboard" isOpen={isOpen} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {[...KEYS, ...places].map(([key, does]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border px-1.5 font-mono text-xs">{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label className="mt-4 flex items-center gap-2">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => switchKeys(event.target.checked)}
          className="size-4 accent-accent"
        />
        Single keys do something (turn off if you use speech input)
      </label>
    </Dialog>
  );
}
