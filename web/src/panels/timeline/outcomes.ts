/**
 * What went into a step or came out of it, for the kinds that are worth a face of their own. Pure.
 * Whatever is not read here is shown as it is recorded.
 */
import { readScript, type Script } from "@/session/script";

export type Ran = {
  kind: "ran";
  exitCode: number | null;
  stdout: string;
  stderr: string;
  /** Bytes that were printed and not kept. */
  leftOut: number;
  cpuSeconds: number | null;
  peakBytes: number | null;
};
export type JobRead = { kind: "job"; status: string; text: string; lost: number; exitCode: number | null };
export type ScriptEnded = { kind: "scriptEnded"; value: unknown; output: string; calls: number };
export type Given = { kind: "script"; script: Script; rest: Members } | { kind: "command"; command: string };
export type Outcome = Ran | JobRead | ScriptEnded | Given;

type Members = Record<string, unknown>;

/** What a step of this tool was given. */
export function readGiven(tool: string, input: unknown): Outcome | null {
  if (!isObject(input)) return null;
  const script = tool === "code" ? readScript(input) : null;
  if (script) {
    const { source: _, language: __, ...rest } = input;
    return { kind: "script", script, rest };
  }
  const isCommand = tool.startsWith("shell.") && Object.keys(input).length === 1;
  return isCommand && isText(input.command) ? { kind: "command", command: input.command } : null;
}

/** What a step of this tool gave. */
export function readGave(tool: string, output: unknown): Outcome | null {
  if (!isObject(output)) return null;
  if (tool === "code") return readEnded(output);
  return tool.startsWith("shell.") ? (readRan(output) ?? readJob(output)) : null;
}

/** The exit code of a command that did not end well. */
export function badExit(tool: string, output: unknown): number | null {
  const code = tool.startsWith("shell.run") && isObject(output) ? output.exit_code : null;
  return typeof code === "number" && code !== 0 ? code : null;
}

function readRan(given: Members): Ran | null {
  const { exit_code, stdout, stderr, left_out, cpu_seconds, peak_bytes } = given;
  if (!isText(stdout) || !isText(stderr)) return null;
  return {
    kind: "ran",
    exitCode: numberOf(exit_code),
    stdout,
    stderr,
    leftOut: numberOf(left_out) ?? 0,
    cpuSeconds: numberOf(cpu_seconds),
    peakBytes: numberOf(peak_bytes),
  };
}

function readJob({ status, text, lost, exit_code }: Members): JobRead | null {
  if (!isText(status) || !isText(text)) return null;
  return { kind: "job", status, text, lost: numberOf(lost) ?? 0, exitCode: numberOf(exit_code) };
}

function readEnded({ value, output, calls }: Members): ScriptEnded | null {
  return isText(output) && typeof calls === "number" ? { kind: "scriptEnded", value, output, calls } : null;
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";
const numberOf = (value: unknown) => (typeof value === "number" ? value : null);
