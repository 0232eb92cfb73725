import type { Mode } from "@/wire/types";

const MODES: readonly { mode: Mode; title: string; about: string }[] = [
  { mode: "hitl", title: "With a person", about: "It stops and asks where a rule or the plan says so." },
  { mode: "autonomous", title: "Autonomous", about: "It never stops; where it would have to ask, it fails." },
];

/** Whether the session may stop for a person. */
export function ModeChoice({ mode, onMode }: { mode: Mode; onMode: (mode: Mode) => void }) {
  return (
    <fieldset className="grid gap-2 sm:grid-cols-2">
      <legend className="mb-1 text-xs font-medium">Mode</legend>
      {MODES.map((one) => (
        <label
          key={one.mode}
          className="flex cursor-pointer items-start gap-2 rounded-md border p-2 has-checked:border-accent has-checked:bg-accent-soft has-focus-visible:outline-2 has-focus-visible:outline-accent"
        >
          <input
            type="radio"
            name="mode"
            checked={mode === one.mode}
            onChange={() => onMode(one.mode)}
            className="mt-0.5 accent-accent outline-none"
          />
          <span>
            <span className="block font-medium">{one.title}</span>
            <span className="block text-xs text-muted">{one.about}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
