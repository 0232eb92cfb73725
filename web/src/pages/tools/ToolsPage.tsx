import { useQuery } from "@tanstack/react-query";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { Wrench } from "lucide-react";
import { useState } from "react";
import { ToolRow } from "@/panels/tools/ToolRow";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { INPUT } from "@/parts/Field";
import { toolsQuery } from "@/wire/queries";
import type { ToolView } from "@/wire/types";

/** What agents and plans can do, and how well that works. */
export default function ToolsPage() {
  const tools = useQuery(toolsQuery);
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const shown = tools.data?.filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(wanted));
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
        {tools.map((tool) => (
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
      </table>
    </div>
  );
}
