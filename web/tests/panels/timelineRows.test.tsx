import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test } from "vitest";
import { EventRow } from "@/panels/timeline/EventRow";
import type { WithinScript } from "@/panels/timeline/row";
import { StepRow } from "@/panels/timeline/StepRow";
import { Story } from "@/session/story";
import type { Envelope } from "@/wire/types";
import { event } from "../support/events";

afterEach(cleanup);

const SCRIPT = {
  text: 'const a = 1;\nawait tools.files.read({path: "x"});\n',
  language: "javascript" as const,
};
const WITHIN: WithinScript = {
  call: { step: "it", number: 1 },
  script: SCRIPT,
  title: "Count",
  isFirst: true,
};

function show(head: Envelope, { isOpen = false, within = null as WithinScript | null } = {}) {
  const given = { row: { head, last: head, isLeftBehind: false }, isOpen, toggle: () => {}, isWanted: false };
  const row =
    head.type === "step" ? (
      <StepRow {...given} within={within} titles={new Map([["it", "Count"]])} />
    ) : (
      <EventRow {...given} within={within} />
    );
  render(<QueryClientProvider client={new QueryClient()}>{row}</QueryClientProvider>);
}

const ran = (output: unknown) =>
  event(4, "step", { key: "it", name: "shell.run", status: "completed", output: output as never });
const call = event(4, "step", {
  key: "it/script/1",
  name: "files.read",
  status: "completed",
  input: { path: "x" },
  output: {},
});

describe("a step in the timeline", () => {
  test("that ran a command which went wrong says so, though the step was completed", () => {
    show(ran({ exit_code: 3, stdout: "", stderr: "no\n" }));
    screen.getByText("exit 3");
    screen.getByText("completed");
  });

  test("that ran a command shows what it printed, apart, and what was left out", () => {
    show(ran({ exit_code: 0, stdout: "a\nb\n", stderr: "no\n", left_out: 2_000, peak_bytes: 1 }), {
      isOpen: true,
    });
    screen.getByText("Printed");
    screen.getByText("Printed as errors (stderr)");
    screen.getByText("2.0 kB of what it printed were not kept");
    screen.getByText("Output as it is recorded");
  });

  test("that a script called says in which line, and shows it", () => {
    show(call, { within: WITHIN, isOpen: true });
    screen.getByText("Calls of “Count”");
    screen.getByText("line 2");
    const [line] = document.querySelectorAll("[data-line]");
    expect(line?.getAttribute("data-line")).toBe("2");
  });

  test("that a script called names its script once in a row, which can be read there", async () => {
    show(call, { within: WITHIN });
    await userEvent.click(screen.getByRole("button", { name: "Show the script" }));
    expect(document.querySelectorAll("[data-line]")).toHaveLength(2);
    cleanup();
    show(call, { within: { ...WITHIN, isFirst: false } });
    expect(screen.queryByText("Calls of “Count”")).toBeNull();
  });
});

test("a picture that was made is seen without opening anything", () => {
  show(event(3, "artifact", { key: "shot", name: "shot.png", media_type: "image/png" } as never));
  screen.getByRole("img", { name: "Made by the step shot" });
});

test("an answer belongs to the call that asked", () => {
  const asks = event(1, "request_input", { request_id: "r", key: "it/script/4", prompt: "?" } as never);
  const answers = event(2, "user_response", { request_id: "r", value: 1 } as never);
  const story = new Story();
  story.append([asks, answers]);
  expect(story.keyOf(asks)).toBe("it/script/4");
  expect(story.keyOf(answers)).toBe("it/script/4");
  expect(new Story().keyOf(answers)).toBeNull();
});
