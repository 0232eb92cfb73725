import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Globe } from "lucide-react";
import { useEffect, useState } from "react";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { Field, INPUT } from "@/parts/Field";
import { useRested } from "@/parts/rested";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { graphQuery } from "@/wire/queries";
import { NodeButton } from "./NodeButton";
import type { OfGraph } from "./props";
import { counted, placeWords } from "./words";

const MOST = 500;

/** The requests that the repository serves. */
export function EndpointList({ repo, view, change, choose }: OfGraph) {
  const [text, setText] = useState(view.pattern);
  const path = useRested(text.trim());
  useEffect(() => {
    if (path !== view.pattern) change({ pattern: path });
  }, [path, view.pattern, change]);
  const found = useQuery({
    ...graphQuery(repo, "endpoints", { path: path || undefined, limit: MOST }),
    placeholderData: keepPreviousData,
  });
  const endpoints = found.data?.endpoints;
  return (
    <div className="grid gap-3 p-3">
      <Field
        label="Request"
        hint="A route or a part of it. * stands for one part of a path, ** for any number."
      >
        {(given) => (
          <input
            {...given}
            type="search"
            placeholder="GET /users/42"
            maxLength={2_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
            className={`${INPUT} font-mono`}
          />
        )}
      </Field>
      {found.isError ? <Failed error={found.error} retry={() => void found.refetch()} /> : null}
      {found.isPending ? <Loading what="the endpoints" /> : null}
      {endpoints?.length === 0 ? (
        <Empty icon={Globe} title={path ? "No endpoint fits" : "No endpoints were found"}>
          {path
            ? "Change the pattern."
            : "Routes of the usual frameworks are found; this repository declares none."}
        </Empty>
      ) : null}
      {endpoints && endpoints.length > 0 ? (
        <>
          <p aria-live="polite" className="text-xs text-muted">
            {counted(found.data?.total ?? 0, "endpoint")}
            {found.data?.truncated ? `, the first ${endpoints.length.toLocaleString()} listed` : ""}
          </p>
          <ul aria-label="Endpoints" className="divide-y divide-line/60 rounded-md border bg-panel">
            {endpoints.map((endpoint) => (
              <li key={endpoint.id} className="grid min-w-0 gap-0.5 px-2.5 py-1.5">
                <span className="flex min-w-0 items-start gap-2">
                  <Tag>{visibleLine(endpoint.method)}</Tag>
                  <NodeButton
                    id={endpoint.id}
                    name={endpoint.route}
                    onChoose={choose}
                    className="leading-5.5"
                  />
                </span>
                <span className="text-xs break-all text-muted">
                  {endpoint.handler ? (
                    <>
                      <NodeButton id={endpoint.handler.id} onChoose={choose} /> ·{" "}
                    </>
                  ) : null}
                  <span className="font-mono">{placeWords(endpoint)}</span>
                  {endpoint.framework ? ` · ${visibleLine(endpoint.framework)}` : ""}
                </span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}
