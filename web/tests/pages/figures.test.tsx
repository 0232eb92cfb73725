import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { drawn, plotsOf } from "@/panels/figures/plots";
import type { MetricsSummary } from "@/wire/types";
import { serveCanvas } from "../support/canvas";
import { open } from "../support/page";
import { serveRoutes } from "../support/server";

const HOURS = Array.from({ length: 24 }, (_, hour) => ({
  at: `2026-03-01T${String(hour).padStart(2, "0")}:00:00Z`,
  started: hour,
  completed: 1,
  failed: 0,
  cancelled: 0,
}));
const summary = (more: Partial<MetricsSummary> = {}): MetricsSummary => ({
  at: "2026-03-01T23:30:00Z",
  sessions: { running: 2, waiting: 3, completed: 40 },
  for_a_person: 3,
  hours: HOURS,
  tools: [
    { name: "slow.tool", calls: 3, success_rate: 0.5, p50: 30, p95: 61, tokens: 0, usd: 0, breaker: "open" },
    { name: "model", calls: 9, success_rate: 1, p50: 0.8, p95: null, tokens: 5000, usd: 0.25, breaker: null },
    { name: "never.called", calls: 0, breaker: "closed" },
  ],
  calls: 12,
  success_rate: 0.87,
  tokens: 5000,
  usd: 0.25,
  events: 99,
  store_bytes: 4096,
  ...more,
});
let told: MetricsSummary;

beforeEach(() => {
  told = summary();
  serveRoutes({
    "GET /api/inbox": () => ({ body: { requests: [] } }),
    "GET /api/execution/sessions": () => ({ body: { sessions: [], next: null } }),
    "GET /api/metrics/summary": () => ({ body: told }),
  });
});

afterEach(() => vi.unstubAllGlobals());

describe("the figures", () => {
  test("say how it is in a few numbers", async () => {
    serveCanvas();
    open("/figures");
    const live = await screen.findByText("live sessions");
    expect(live.parentElement?.textContent).toBe("live sessions5");
    screen.getByText("87 %");
  });

  test("have every plot as a table too", async () => {
    serveCanvas();
    open("/figures");
    const table = within(await screen.findByRole("figure", { name: "How long a call takes" }));
    const rows = table.getAllByRole("row", { hidden: true }).map((row) => row.textContent);
    expect(rows).toEqual(["Toolp50p95", "model800 ms–", "slow.tool30 s61 s"]);
    for (const name of [
      "Sessions begun and ended",
      "Sessions by status",
      "Calls that succeed",
      "Tokens",
      "Cost",
    ])
      within(screen.getByRole("figure", { name })).getByRole("table", { hidden: true });
  });

  test("are drawn with the names of what they are about", async () => {
    const written = serveCanvas();
    open("/figures");
    await waitFor(() => expect(written).toContain("slow.tool"));
    expect(written).toContain("waiting");
  });

  test("say so when there is nothing to count", async () => {
    told = summary({ events: 0 });
    open("/figures");
    await screen.findByText("Nothing to count yet");
  });
});

describe("the plots", () => {
  test("leave out what nothing is known of", () => {
    const bare = plotsOf(summary({ tools: [], hours: [] }));
    expect(bare.map((plot) => plot.title)).toEqual(["Sessions by status"]);
  });

  test("draw the most used tools, and have all of them in the table", () => {
    const tools = Array.from({ length: 30 }, (_, calls) => ({
      name: `t${calls}`,
      calls,
      success_rate: 1,
      breaker: null,
    }));
    const plot = plotsOf(summary({ tools })).find(({ title }) => title === "Calls that succeed");
    expect(plot?.rows).toHaveLength(29);
    expect(plot && drawn(plot).rows).toHaveLength(12);
    expect(plot?.rows[0]).toBe("t29");
  });
});
