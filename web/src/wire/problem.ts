/** Everything that can go wrong between this page and the server, as one error with what to do about it. */
import type { ProblemDetails } from "./types";

export type ProblemPlace = { place: string; what: string };

export class ProblemError extends Error {
  readonly kind: string;
  readonly status: number;
  readonly detail: string;
  readonly hint: string | null;
  readonly places: readonly ProblemPlace[];
  readonly retryAfter: number | null;

  constructor(details: Partial<ProblemDetails> & { detail: string }, retryAfter: number | null = null) {
    super(details.detail);
    this.name = "ProblemError";
    this.kind = (details.type ?? "").replace("urn:belayer:problem:", "") || "Unknown";
    this.status = details.status ?? 0;
    this.detail = details.detail;
    this.hint = details.hint ?? null;
    this.places = (details.errors ?? []).map((one) => ({ place: one.place ?? "", what: one.what ?? "" }));
    this.retryAfter = retryAfter;
  }

  /** Whether the server was not reached at all, so that trying again may help. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

/** The problem that an answer which is no success tells of. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const after = Number.parseInt(response.headers.get("retry-after") ?? "", 10);
  const retryAfter = Number.isFinite(after) ? after : null;
  const told = await response.json().catch(() => null);
  if (isDetails(told)) return new ProblemError({ ...told, status: response.status }, retryAfter);
  return new ProblemError(
    {
      type: "Unexplained",
      status: response.status,
      detail: `The server answered ${response.status} and did not say why.`,
      hint: "Try again; if it stays so, look into the server's log.",
    },
    retryAfter,
  );
}

export function unreachable(): ProblemError {
  return new ProblemError({
    type: "Unreachable",
    detail: "The server cannot be reached.",
    hint: "Check that `belayer serve` runs; this page goes on by itself once it does.",
  });
}

/** Any error as a problem, so that every panel can show it in the same way. */
export function asProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ProblemError({
    type: "PageError",
    detail: `Something went wrong in this page: ${detail}`,
    hint: "Reload the page. Sessions are not harmed.",
  });
}

export function isDetails(told: unknown): told is ProblemDetails {
  return typeof told === "object" && told !== null && typeof (told as ProblemDetails).detail === "string";
}
