import { lazy, Suspense } from "react";
import { Loading } from "@/parts/Faces";
import { visible, visibleLine } from "@/parts/visible";
import type { ChangePlan, Task } from "@/wire/change";
import { Reached } from "./Reached";

const Graph = lazy(() => import("./Graph"));

/** What is to be changed, beside what that reaches. */
export function PlanCard({ plan }: { plan: ChangePlan }) {
  return (
    <div className={`grid min-w-0 gap-3 ${plan.impact ? "xl:grid-cols-2" : ""}`}>
      <div className="grid min-w-0 content-start gap-2">
        {plan.text ? <p className="break-words whitespace-pre-wrap">{visible(plan.text)}</p> : null}
        <ol className="grid gap-2">
          {plan.tasks.map((task, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: tasks have no name but their place
            <li key={place} className="min-w-0 rounded-md border bg-ground p-2">
              <p className="font-medium break-words">
                {place + 1}. {visibleLine(task.title)}
              </p>
              <TaskParts task={task} />
            </li>
          ))}
        </ol>
      </div>
      {plan.impact ? (
        <div className="grid min-w-0 content-start gap-2">
          <Suspense fallback={<Loading what="the graph" />}>
            <Graph impact={plan.impact} />
          </Suspense>
          <Reached impact={plan.impact} />
        </div>
      ) : null}
    </div>
  );
}

function TaskParts({ task }: { task: Task }) {
  const parts = [
    { name: "Files", items: task.files, look: "font-mono text-xs break-all" },
    { name: "Changes", items: task.changes, look: "break-words" },
    { name: "Tests", items: task.tests, look: "font-mono text-xs break-all" },
    { name: "Notes", items: task.notes ? [task.notes] : [], look: "break-words" },
  ];
  return (
    <dl className="mt-1 grid grid-cols-[4.5rem_minmax(0,1fr)] gap-x-2 gap-y-1">
      {parts
        .filter(({ items }) => items.length > 0)
        .map(({ name, items, look }) => (
          <div key={name} className="contents">
            <dt className="text-xs text-muted">{name}</dt>
            <dd className={look}>
              {items.map((item) => (
                <p key={item}>{visible(item)}</p>
              ))}
            </dd>
          </div>
        ))}
    </dl>
  );
}
