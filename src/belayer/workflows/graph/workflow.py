"""Fetch a repository and build its graph, as a session: progress streams, and what was done is not done again."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from belayer.codegraph.build import Progress
from belayer.execution.act import Act, Guard
from belayer.execution.policy import Reach
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.vocabulary.events.event import Effect, Json
from belayer.workflows.graph.repositories import Repositories
from belayer.workflows.workflow import Workflow
from belayer.workspace.clone import Cloner
from belayer.workspace.repo_url import RepoUrl, read_repo_url

NAME = "graph"
_LONGEST = 1_800.0
# How far along the whole of `build` each of its stages ends.
_STAGES = {"discover": (0, 5), "read": (5, 65), "link": (65, 90), "store": (90, 100)}

Given = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Graphs:
    """What it takes to make graphs."""

    repositories: Repositories
    cloner: Cloner

    def workflow(self) -> Workflow:
        return Workflow(NAME, self.generate, check=self.refuse_unfit)

    async def generate(self, run: Run, repo_url: str) -> Json:
        """Fetch what is new and build the graph of it."""
        await run.plan(
            ("look", "Ask for the newest commit"), ("fetch", "Fetch the files"), ("build", "Build the graph")
        )
        commit = await run.use("look", self._act("look", self._look), {"repo_url": repo_url})
        fetched = await run.use(
            "fetch", self._act("fetch", self._fetch), {"repo_url": repo_url, "commit": commit}
        )
        return await run.use(
            "build", self._act("build", self._build), {"repo_url": repo_url, "commit": fetched}
        )

    def refuse_unfit(self, arguments: Mapping[str, Any]) -> None:
        """Raise UnfitRepository before there is a session."""
        read_repo_url(arguments["repo_url"])

    def _act(self, name: str, call: Any) -> Act[[Given], Json]:
        """Nothing but our own copy is written, so each of these may be done again."""
        return Act(f"repository.{name}", call, Effect.READ, timeout=_LONGEST, guard=Guard(reach=_reach))

    async def _look(self, given: Given) -> Json:
        url = _url(given)
        repository = self.repositories.at_url(url)
        async with self.repositories.alone(repository.id):
            return await self.cloner.newest(url, self.repositories.place(repository.id))

    async def _fetch(self, given: Given) -> Json:
        """The commit whose files are here now. What is here already is not fetched again."""
        url = _url(given)
        repository, step = self.repositories.at_url(url), this_step()
        place = self.repositories.place(repository.id)
        async with self.repositories.alone(repository.id):
            if self.cloner.here(place) == given["commit"]:
                return given["commit"]
            return await self.cloner.fetch(url, place, step.progress)

    async def _build(self, given: Given) -> Json:
        repository = self.repositories.at_url(_url(given))
        commit = str(given["commit"])
        cached = repository.commit == commit and repository.built is not None
        step = this_step()

        def tell(progress: Progress) -> None:
            begins, ends = _STAGES.get(progress.stage, (0, 100))
            share = progress.done / progress.total if progress.total else 1.0
            step.progress(round(begins + (ends - begins) * share, 1), progress.stage)

        async with self.repositories.alone(repository.id):
            repository = await self.repositories.build(repository, commit, tell)
        assert repository.built is not None
        return {
            "repo_id": repository.id,
            "name": repository.name,
            "commit": commit,
            "cached": cached,
            "graph": repository.built.model_dump(mode="json"),
        }


def _url(given: Given) -> RepoUrl:
    return read_repo_url(str(given["repo_url"]))


def _reach(given: Given) -> Reach:
    """As rules see it: the host, or the folder."""
    url = _url(given)
    return Reach(hosts=(url.reaches,)) if url.reaches else Reach(paths=(url.text,), below=True)
