import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { CircleX, Wrench } from "lucide-react";
import { Fragment, useState } from "react";
import { GroupHead } from "@/panels/tools/GroupHead";
import { grouped } from "@/panels/tools/groups";
import { ToolRow } from "@/panels/tools/ToolRow";
import { Button } from "@/parts/Button";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { INPUT } from "@/parts/Field";
import { toolsQuery } from "@/wire/queries";
import type { ToolView } from "@/wire/types";

/** What agents and plans can do, and how well that works. */
export default function ToolsPage() {
  const tools = useQuery(toolsQuery);
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const [onlyUnwell, setOnlyUnwell] = useState(false);
  const unwell = tools.data?.filter((tool) => tool.health !== "ok" || tool.breaker === "open") ?? [];
  const among = onlyUnwell && unwell.length > 0 ? unwell : tools.data;
  const shown = among?.filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(wanted));
  return (
    <div className="mx-auto grid max-w-5xl gap-3 p-3 sm:p-5">
      <header className="flex flex-wrap items-center gap-3">
        <h1 className="text-lg font-semibold">Tools</h1>
        <input
          type="search"
          aria-label="Search tools"
          placeholder="Search tools…"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className={`${INPUT} max-w-64`}
        />
        {unwell.length > 0 ? (
          <Button aria-pressed={onlyUnwell} onClick={() => setOnlyUnwell(!onlyUnwell)}>
            <CircleX aria-hidden="true" className="size-4 text-bad" />
            {onlyUnwell ? "Show all" : `${unwell.length} not well`}
          </Button>
        ) : null}
        {shown ? (
          <p role="status" className="text-xs text-muted">
            {shown.length === tools.data?.length ? "" : `${shown.length} of `}
            {tools.data?.length} tools
          </p>
        ) : null}
      </header>
      {tools.isPending ? <Loading what="the tools" /> : null}
      {tools.isError && !tools.data ? (
        <Failed error={tools.error} retry={() => void tools.refetch()} />
      ) : null}
      {shown?.length === 0 ? (
        <Empty icon={Wrench} title={wanted ? "No tool fits" : "There are no tools"}>
          {wanted ? "Change the search." : "The server was started without any."}
        </Empty>
      ) : null}
      {shown && shown.length > 0 ? <Table tools={shown} /> : null}
    </div>
  );
}

/** Which tool is opened is in the address, so that it can be linked to. */
function Table({ tools }: { tools: readonly ToolView[] }) {
  const { hash } = useLocation();
  const navigate = useNavigate();
  const groups = grouped(tools);
  return (
    <div className="overflow-hidden rounded-lg border bg-panel">
      <table className="w-full text-left">
        <caption className="sr-only">Tools with their health and their past</caption>
        <thead className="border-b text-xs text-muted">
          <tr>
            <th className="px-3 py-1.5 font-medium">Tool</th>
            <th className="px-2 py-1.5 font-medium">Health</th>
            <th className="px-2 py-1.5 font-medium max-sm:hidden">Breaker</th>
            <th className="px-2 py-1.5 font-medium max-sm:hidden">Effect</th>
            <th className="px-2 py-1.5 text-right font-medium max-md:hidden">p50</th>
            <th className="px-2 py-1.5 text-right font-medium max-md:hidden">p95</th>
            <th className="px-2 py-1.5 text-right font-medium">Success</th>
            <th className="px-3 py-1.5 text-right font-medium max-sm:hidden">Calls</th>
          </tr>
        </thead>
        {groups.map((group) => (
          <Fragment key={group.name}>
            {groups.length > 1 ? <GroupHead group={group} /> : null}
            {group.tools.map((tool) => (
              <ToolRow
                key={tool.name}
                tool={tool}
                isOpen={hash === tool.name}
                toggle={() =>
                  void navigate({
                    to: "/tools",
                    hash: hash === tool.name ? "" : tool.name,
                    replace: true,
                    resetScroll: false,
                    hashScrollIntoView: false,
                  })
                }
              />
            ))}
          </Fragment>
        ))}
      </table>
    </div>
  );
}
