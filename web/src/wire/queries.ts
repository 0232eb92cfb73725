/** What the query cache holds, and how fresh it is kept. */
import { infiniteQueryOptions, keepPreviousData, QueryClient, queryOptions } from "@tanstack/react-query";
import * as client from "./client";
import { ProblemError } from "./problem";
import type { Repository, Rule, Status } from "./types";

const LOOKED_AT_EVERY = 2_000;
const SELDOM = 10_000;
export const LIVE: readonly Status[] = ["queued", "running", "waiting", "paused", "interrupted"];

export function makeQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 1_000,
        refetchOnWindowFocus: true,
        // The server says no for a reason; only one that cannot be reached is worth another try.
        retry: (count, error) => count < 2 && error instanceof ProblemError && error.isUnreachable,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/** Polled while hidden too: the badge in the title and notifications depend on it. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: client.inbox,
  refetchInterval: LOOKED_AT_EVERY,
  refetchIntervalInBackground: true,
});

export const sessionsQuery = (wanted: client.Wanted) =>
  infiniteQueryOptions({
    queryKey: ["sessions", wanted],
    queryFn: ({ pageParam }) => client.sessions({ ...wanted, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    // All pages are asked for again, so the more there are, the less often.
    refetchInterval: (query) => LOOKED_AT_EVERY * (query.state.data?.pages.length ?? 1),
  });

export const liveSessionsQuery = queryOptions({
  queryKey: ["sessions", "live"],
  queryFn: () => client.sessions({ status: LIVE, limit: 20 }),
});

/** The newest session of a workflow, if there is any. */
export const newestOfQuery = (workflow: string) =>
  queryOptions({
    queryKey: ["sessions", "newest", workflow],
    queryFn: () => client.sessions({ workflow, limit: 1 }),
    refetchInterval: 3 * SELDOM,
    retry: false,
  });

export const toolsQuery = queryOptions({
  queryKey: ["tools"],
  queryFn: client.tools,
  refetchInterval: SELDOM,
});

export const metricsQuery = queryOptions({
  queryKey: ["metrics"],
  queryFn: client.metrics,
  refetchInterval: SELDOM,
});

export const policyQuery = queryOptions({
  queryKey: ["policy"],
  queryFn: client.policy,
  refetchInterval: SELDOM,
});

export const suggestionsQuery = queryOptions({
  queryKey: ["policy", "suggestions"],
  queryFn: client.suggestions,
  refetchInterval: SELDOM,
});

export const trialQuery = (rule: Rule) =>
  queryOptions({ queryKey: ["trial", rule], queryFn: () => client.tryRule(rule), staleTime: 0 });

export const rewindQuery = (id: string, seq: number) =>
  queryOptions({ queryKey: ["rewind", id, seq], queryFn: () => client.rewindPreview(id, seq), staleTime: 0 });

/** Payloads are named by their content, so they never change. */
export const asideQuery = (id: string, digest: string) =>
  queryOptions({
    queryKey: ["aside", id, digest],
    queryFn: () => client.aside(id, digest),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const reposQuery = queryOptions({
  queryKey: ["repos"],
  queryFn: client.repos,
  refetchInterval: SELDOM,
});

export const repoQuery = (id: string) =>
  queryOptions({ queryKey: ["repo", id], queryFn: () => client.repo(id), refetchInterval: SELDOM });

/** A graph's answer holds until the graph is built anew, which `stamp` tells. */
export const graphQuery = <Name extends keyof client.Questions>(
  { id, built_at: stamp }: Pick<Repository, "id" | "built_at">,
  name: Name,
  given: client.Questions[Name],
) =>
  queryOptions({
    queryKey: ["repo", id, stamp, name, given],
    queryFn: () => client.askGraph(id, name, given),
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });

export const modulesQuery = (
  { id, built_at: stamp }: Pick<Repository, "id" | "built_at">,
  given: client.Questions["modules"],
) =>
  infiniteQueryOptions({
    queryKey: ["repo", id, stamp, "modules", given],
    queryFn: ({ pageParam }) => client.askGraph(id, "modules", { ...given, after: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.after ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
