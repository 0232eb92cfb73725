/** Tools in families, by what stands before the dot of their names. Pure. */
import type { ToolView } from "@/wire/types";

export type Group = { name: string; tools: readonly ToolView[] };

/** The families in the order of their names; tools that are alone come first, together, without a name. */
export function grouped(tools: readonly ToolView[]): Group[] {
  const families = new Map<string, ToolView[]>();
  for (const tool of tools) {
    const name = familyOf(tool.name);
    families.set(name, [...(families.get(name) ?? []), tool]);
  }
  const named = [...families]
    .filter(([name]) => name !== "")
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const alone = families.get("") ?? [];
  return [{ name: "", tools: alone }, ...named.map(([name, tools]) => ({ name, tools }))].filter(
    (group) => group.tools.length > 0,
  );
}

function familyOf(name: string): string {
  return name.includes(".") ? name.slice(0, name.indexOf(".")) : "";
}
