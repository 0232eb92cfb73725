import { visibleLine } from "@/parts/visible";
import type { Group } from "./groups";
import { COLUMNS } from "./ToolRow";

/** Where a family of tools begins. */
export function GroupHead({ group }: { group: Group }) {
  return (
    <tbody className="border-b border-line/60 bg-raised">
      <tr>
        <th colSpan={COLUMNS} scope="colgroup" className="px-3 py-1 text-xs font-medium">
          {group.name === "" ? "On their own" : <code className="font-mono">{visibleLine(group.name)}</code>}{" "}
          <span className="font-normal text-muted">{group.tools.length}</span>
        </th>
      </tr>
    </tbody>
  );
}
