import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import type { Impact } from "@/wire/change";

/** What the graph shows, as a list: nearest first. */
export function Reached({ impact }: { impact: Impact }) {
  const modules = [...impact.modules].sort((one, other) => one.distance - other.distance);
  const tests = modules.filter((module) => module.isTest).length;
  return (
    <details>
      <summary className="cursor-pointer text-xs text-muted">
        Reaches {modules.length.toLocaleString()} modules, {tests.toLocaleString()} of them tests
        {impact.risk ? `; ${visibleLine(impact.risk)} risk` : ""}
      </summary>
      <ul className="mt-1 grid max-h-60 gap-0.5 overflow-y-auto">
        {modules.map(({ name, distance, isTest }) => (
          <li key={name} className="flex flex-wrap items-center gap-2 text-xs">
            <code className="font-mono break-all">{visibleLine(name)}</code>
            <span className="text-muted">{distance === 0 ? "changed" : `${distance} away`}</span>
            {isTest ? <Tag>test</Tag> : null}
          </li>
        ))}
      </ul>
    </details>
  );
}
