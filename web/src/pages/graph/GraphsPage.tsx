import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import { useCallback } from "react";
import { AddRepository } from "@/panels/graph/AddRepository";
import { Building } from "@/panels/graph/Building";
import { RepositoryList } from "@/panels/graph/RepositoryList";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { reposQuery } from "@/wire/queries";

/** The repositories that there are graphs of. Which session builds one is in the address, so that it is not lost. */
export default function GraphsPage() {
  const repos = useQuery(reposQuery);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { building } = useSearch({ strict: false }) as { building?: string };
  const open = useCallback(
    (repo: string) => {
      void queries.invalidateQueries({ queryKey: ["repos"] });
      void queries.invalidateQueries({ queryKey: ["repo", repo] });
      void navigate({ to: `/graph/${repo}`, replace: true });
    },
    [queries, navigate],
  );
  return (
    <div className="mx-auto grid max-w-5xl gap-3 p-3 sm:p-5">
      <h1 className="text-lg font-semibold">Graph</h1>
      <AddRepository onBegun={(session) => void navigate({ to: ".", search: { building: session } })} />
      {building ? <Building key={building} session={building} onDone={open} /> : null}
      {repos.isPending ? <Loading what="the repositories" /> : null}
      {repos.isError && !repos.data ? (
        <Failed error={repos.error} retry={() => void repos.refetch()} />
      ) : null}
      {repos.data?.length === 0 ? (
        <Empty icon={Waypoints} title="No repository has been read yet">
          Name one above: its modules, symbols and endpoints, and what depends on what, become a map.
        </Empty>
      ) : null}
      {repos.data && repos.data.length > 0 ? <RepositoryList repos={repos.data} /> : null}
    </div>
  );
}
