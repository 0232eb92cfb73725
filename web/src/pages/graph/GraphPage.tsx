import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { RefreshCw } from "lucide-react";
import { Beside } from "@/panels/graph/Beside";
import { MapPanel } from "@/panels/graph/MapPanel";
import { RepositoryFacts } from "@/panels/graph/RepositoryFacts";
import { SymbolSearch } from "@/panels/graph/SymbolSearch";
import { Toolbar } from "@/panels/graph/Toolbar";
import { useView } from "@/panels/graph/useView";
import { Button } from "@/parts/Button";
import { Failed, Loading } from "@/parts/Faces";
import { showProblem } from "@/parts/showProblem";
import { visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import * as client from "@/wire/client";
import { asProblem } from "@/wire/problem";
import { repoQuery } from "@/wire/queries";
import type { Repository } from "@/wire/types";

/** One repository: its map, and the same in words. */
export default function GraphPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const repo = useQuery(repoQuery(id));
  if (repo.data) return <Working key={repo.data.id} repo={repo.data} />;
  return (
    <>
      <h1 className="sr-only">Graph</h1>
      {repo.isError ? (
        <>
          <Failed error={repo.error} retry={() => void repo.refetch()} />
          <Link to="/graph" className="mx-3 inline-flex min-h-8 items-center text-accent hover:underline">
            All repositories
          </Link>
        </>
      ) : null}
      {repo.isPending ? <Loading what="the repository" /> : null}
    </>
  );
}

function Working({ repo }: { repo: Repository }) {
  const given = { repo, ...useView() };
  return (
    <div className="flex min-h-full flex-col lg:h-full">
      <header className="grid gap-2 border-b bg-panel px-3 py-2 sm:px-4">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 truncate text-lg max-sm:flex-1 font-semibold">{visibleLine(repo.name)}</h1>
          <div className="flex min-w-0 flex-1 flex-wrap gap-x-3 text-xs max-sm:order-last max-sm:basis-full">
            <RepositoryFacts repo={repo} />
            {repo.built_at ? <When at={repo.built_at} /> : null}
          </div>
          <Update repo={repo} />
          <Link to="/graph" className="inline-flex min-h-8 items-center text-accent hover:underline">
            All repositories
          </Link>
        </div>
        <div className="flex min-w-0 flex-wrap items-center gap-2">
          <div className="flex min-w-60 flex-1 lg:max-w-md">
            <SymbolSearch repo={repo} choose={given.choose} />
          </div>
          <Toolbar {...given} />
        </div>
      </header>
      <div className="flex min-h-0 flex-1 flex-col lg:grid lg:grid-cols-[minmax(0,1fr)_27rem] lg:grid-rows-[minmax(0,1fr)]">
        <div className="h-[52dvh] min-w-0 shrink-0 max-lg:border-b lg:h-auto lg:min-h-0">
          <MapPanel {...given} />
        </div>
        <aside className="flex min-h-0 min-w-0 flex-col bg-ground lg:border-l">
          <Beside {...given} />
        </aside>
      </div>
    </div>
  );
}

/** Look for a newer commit. A folder that is read where it is, is read again by whoever read it. */
function Update({ repo }: { repo: Repository }) {
  const navigate = useNavigate();
  const updating = useMutation({
    mutationFn: () => client.generate(repo.source),
    onSuccess: ({ session_id }) => void navigate({ to: "/graph", search: { building: session_id } }),
    onError: (error) => showProblem(asProblem(error)),
  });
  if (!repo.commit) return null;
  return (
    <Button look="quiet" disabled={updating.isPending} onClick={() => updating.mutate()}>
      <RefreshCw aria-hidden="true" className="size-3.5" />
      Update
    </Button>
  );
}
