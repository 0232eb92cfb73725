import { CircleCheck, CircleX, FlaskConical, type LucideIcon, SkipForward } from "lucide-react";
import { CodeBlock } from "@/parts/CodeBlock";
import { Empty } from "@/parts/Faces";
import { duration } from "@/parts/time";
import { visibleLine } from "@/parts/visible";
import type { TestResult, TestStatus } from "@/wire/change";

const SHAPES: Record<TestStatus, { icon: LucideIcon; look: string }> = {
  failed: { icon: CircleX, look: "text-bad" },
  skipped: { icon: SkipForward, look: "text-muted" },
  passed: { icon: CircleCheck, look: "text-ok" },
};
const ORDER = Object.keys(SHAPES) as TestStatus[];
const MOST = 500;

/** Every test with its last result, the failed ones first. */
export function TestTable({ tests }: { tests: readonly TestResult[] }) {
  if (tests.length === 0) {
    return (
      <Empty icon={FlaskConical} title="No tests have run yet">
        They appear here one by one.
      </Empty>
    );
  }
  const counts = ORDER.map((status) => ({
    status,
    count: tests.filter((one) => one.status === status).length,
  }));
  const sorted = [...tests].sort((one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status));
  return (
    <>
      <p aria-live="polite" className="mb-1">
        {counts
          .filter(({ count }) => count > 0)
          .map(({ status, count }) => `${count.toLocaleString()} ${status}`)
          .join(", ")}
      </p>
      <table className="w-full table-fixed text-left">
        <caption className="sr-only">Test results</caption>
        <thead className="border-b text-xs text-muted">
          <tr>
            <th className="py-1 font-medium">Test</th>
            <th className="w-24 py-1 font-medium">Result</th>
            <th className="w-20 py-1 text-right font-medium">Time</th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line/60">
          {sorted.slice(0, MOST).map((test) => (
            <TestLine key={test.name} test={test} />
          ))}
        </tbody>
      </table>
      {sorted.length > MOST ? (
        <p className="pt-2 text-xs text-muted">
          {(sorted.length - MOST).toLocaleString()} more are not shown.
        </p>
      ) : null}
    </>
  );
}

function TestLine({ test }: { test: TestResult }) {
  const { icon: Icon, look } = SHAPES[test.status];
  return (
    <tr className="align-top">
      <th scope="row" className="py-1 pr-2 font-normal">
        <code className="font-mono text-xs break-all">{visibleLine(test.name)}</code>
        {test.text && test.status === "failed" ? <CodeBlock value={test.text} label="What it said" /> : null}
      </th>
      <td className={`py-1 ${look}`}>
        <span className="inline-flex items-center gap-1">
          <Icon aria-hidden="true" className="size-3.5" />
          {test.status}
        </span>
      </td>
      <td className="py-1 text-right font-mono text-xs text-muted">
        {test.seconds === null ? "–" : duration(test.seconds)}
      </td>
    </tr>
  );
}
