import { Tabs } from "radix-ui";
import { BlastRadius } from "./BlastRadius";
import { ChosenCard } from "./ChosenCard";
import { Dependencies } from "./Dependencies";
import { EndpointList } from "./EndpointList";
import { ModuleList } from "./ModuleList";
import { Neighbours } from "./Neighbours";
import type { OfGraph } from "./props";
import type { Tab } from "./view";

const OF_A_NODE: readonly (readonly [Tab, string])[] = [
  ["neighbours", "Neighbours"],
  ["dependencies", "Dependencies"],
  ["blast", "Blast radius"],
];
const OF_ALL: readonly (readonly [Tab, string])[] = [
  ["modules", "Modules"],
  ["endpoints", "Endpoints"],
];

/** The graph in words: what is chosen and what is around it, and everything as lists. */
export function Beside(props: OfGraph) {
  const { view, change } = props;
  const ofNode = view.node === null ? null : { ...props, node: view.node };
  const tabs = ofNode ? [...OF_A_NODE, ...OF_ALL] : OF_ALL;
  return (
    <Tabs.Root
      value={view.tab}
      onValueChange={(tab) => change({ tab: tab as Tab })}
      className="flex min-h-0 min-w-0 flex-1 flex-col"
    >
      {ofNode ? <ChosenCard {...ofNode} /> : null}
      <Tabs.List
        aria-label="What is shown"
        className="flex shrink-0 gap-0.5 overflow-x-auto border-b bg-panel px-2"
      >
        {tabs.map(([tab, title]) => (
          <Tabs.Trigger
            key={tab}
            value={tab}
            className="min-h-9 shrink-0 border-b-2 border-transparent px-1.5 sm:px-2 text-xs whitespace-nowrap text-muted -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {title}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content value={view.tab} className="min-h-0 flex-1 -outline-offset-2 lg:overflow-y-auto">
        {ofNode && view.tab === "neighbours" ? <Neighbours {...ofNode} /> : null}
        {ofNode && view.tab === "dependencies" ? <Dependencies {...ofNode} /> : null}
        {ofNode && view.tab === "blast" ? <BlastRadius key={view.node} {...ofNode} /> : null}
        {view.tab === "modules" ? <ModuleList {...props} /> : null}
        {view.tab === "endpoints" ? <EndpointList {...props} /> : null}
      </Tabs.Content>
    </Tabs.Root>
  );
}
