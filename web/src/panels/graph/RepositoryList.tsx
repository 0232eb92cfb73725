import { Link } from "@tanstack/react-router";
import { visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import type { Repository } from "@/wire/types";
import { RepositoryFacts } from "./RepositoryFacts";

/** The repositories, each with what its graph was built from. */
export function RepositoryList({ repos }: { repos: readonly Repository[] }) {
  return (
    <ul
      aria-label="Repositories"
      className="divide-y divide-line/60 overflow-hidden rounded-lg border bg-panel"
    >
      {repos.map((repo) => (
        <li key={repo.id}>
          <Link
            to={`/graph/${repo.id}`}
            className="grid min-w-0 gap-0.5 px-3 py-2 -outline-offset-2 hover:bg-raised"
          >
            <span className="flex min-w-0 items-baseline gap-3">
              <span className="min-w-0 flex-1 truncate font-medium">{visibleLine(repo.name)}</span>
              {repo.built_at ? (
                <span className="text-xs">
                  <When at={repo.built_at} />
                </span>
              ) : null}
            </span>
            <span className="truncate font-mono text-xs text-muted">{visibleLine(repo.source)}</span>
            <RepositoryFacts repo={repo} />
          </Link>
        </li>
      ))}
    </ul>
  );
}
