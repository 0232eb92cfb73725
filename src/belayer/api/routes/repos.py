"""Repositories: fetched and read into a graph, and what the graph answers."""

from typing import Annotated, Any, Literal, TypeVar, cast

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from belayer.api.asked import TheEngine, TheSettings
from belayer.api.strict import StrictRoute
from belayer.codegraph.answers import (
    Dependencies,
    Direction,
    Endpoints,
    Graph,
    Impact,
    Modules,
    Neighbours,
    Risk,
    Sureness,
    Symbols,
)
from belayer.codegraph.build import Built
from belayer.codegraph.codegraph import CodeGraph
from belayer.codegraph.draw import Picture, as_dot, as_mermaid, picture_of
from belayer.codegraph.graph import Confidence
from belayer.engine import Engine
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import SessionFailed
from belayer.vocabulary.events.event import FINAL, Json, Shape, Status
from belayer.vocabulary.ids import SessionId
from belayer.workflows.graph import workflow
from belayer.workflows.graph.repositories import Repository
from belayer.workspace.repo_url import read_repo_url

router = APIRouter(tags=["repositories"], route_class=StrictRoute)

Answered = TypeVar("Answered", Graph, Impact, Dependencies, Neighbours)

Least = Annotated[Sureness, Query(description="Edges that are less sure are not followed.")]
Targets = Annotated[
    list[str],
    Query(
        min_length=1,
        max_length=100,
        description="Paths, dotted names, ids or symbol names; may be given again.",
    ),
]
Target = Annotated[
    str, Query(min_length=1, max_length=1_000, description="A path, dotted name, id or symbol.")
]
Depth = Annotated[int, Query(ge=1, le=20)]
Limit = Annotated[int, Query(ge=1, le=20_000)]
Format = Annotated[
    Literal["json", "picture", "dot", "mermaid"], Query(description="The answer, or a drawing of it.")
]
_SURENESS: dict[str, Confidence] = {
    "resolved": Confidence.RESOLVED,
    "inferred": Confidence.INFERRED,
    "by-name": Confidence.BY_NAME,
}
_DRAWN: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "text/vnd.graphviz": {"schema": {"type": "string"}},
            "text/vnd.mermaid": {"schema": {"type": "string"}},
        }
    }
}


class CloneBody(Shape):
    """What to look at: https, ssh, or a folder of the machine that Belayer runs on."""

    repo_url: Annotated[str, Field(min_length=1, max_length=2_000)]


class Generating(Shape):
    """A graph on its way, or, to one who waited, made."""

    session_id: SessionId
    status: Status
    repo_id: str
    name: str | None = None
    commit: str | None = None
    cached: bool | None = None
    graph: Built | None = None


class Repos(Shape):
    """Every repository that there is a graph of."""

    repos: tuple[Repository, ...]


@router.post("/clone-and-generate", status_code=202, responses={200: {"model": Generating}})
async def clone_and_generate(
    body: CloneBody,
    engine: TheEngine,
    settings: TheSettings,
    response: Response,
    wait: Annotated[
        bool, Query(description="Answer when the graph is there, or a person is needed.")
    ] = False,
) -> Generating:
    """Fetch a repository and build its graph, in a session that can be followed."""
    url = read_repo_url(body.repo_url)
    repository = engine.repositories.at_url(url)
    command = Start(workflow=workflow.NAME, input={"repo_url": body.repo_url}, title=f"Graph of {url.name}")
    session_id = await engine.begin(command, most_live=settings.max_sessions)
    if not wait:
        return Generating(session_id=session_id, status=Status.QUEUED, repo_id=repository.id)
    return await _made(engine, session_id, repository.id, response)


async def _made(engine: Engine, session_id: SessionId, repo_id: str, response: Response) -> Generating:
    state = await engine.settled(session_id)
    if state.status in FINAL and state.status is not Status.COMPLETED and state.problem is not None:
        raise SessionFailed(session_id, state.problem)
    if state.status is not Status.COMPLETED:
        return Generating(session_id=session_id, status=state.status, repo_id=repo_id)
    response.status_code = 200
    made = cast("dict[str, Json]", state.result)
    return Generating.model_validate({"session_id": session_id, "status": state.status, **made})


@router.get("/api/repos")
async def repos(engine: TheEngine) -> Repos:
    """Every repository that there is a graph of."""
    return Repos(repos=tuple(engine.repositories.known()))


async def _repository(
    engine: TheEngine, repo_id: Annotated[str, Path(max_length=100, description="An id, or how it begins.")]
) -> Repository:
    return engine.repositories.find(repo_id)


async def _graph(engine: TheEngine, repository: Annotated[Repository, Depends(_repository)]) -> CodeGraph:
    return await engine.repositories.graph(repository)


TheGraph = Annotated[CodeGraph, Depends(_graph)]


@router.get("/api/repos/{repo_id}")
async def repo(repository: Annotated[Repository, Depends(_repository)]) -> Repository:
    """One repository: where it is from, which commit, and how large its graph is."""
    return repository


@router.get("/api/repos/{repo_id}/graph", response_model=Graph | Picture, responses=_DRAWN)
async def graph(
    graph: TheGraph,
    level: Literal["modules", "symbols"] = "modules",
    least: Least = "by-name",
    limit: Limit = 500,
    format: Format = "json",  # noqa: A002 - the name on the wire
) -> Response | Graph | Picture:
    """The graph, or the best connected part of it."""
    return _drawn(await graph.graph(limit=limit, level=level, least=_SURENESS[least]), format, limit)


@router.get("/api/repos/{repo_id}/modules")
async def modules(
    graph: TheGraph,
    tag: Annotated[str | None, Query(max_length=200)] = None,
    q: Annotated[str | None, Query(max_length=500, description="A part of the path or name.")] = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 100,
    after: Annotated[str | None, Query(max_length=4_096)] = None,
) -> Modules:
    """The modules, by path, all or with a tag."""
    return await graph.modules(tag=tag, query=q, limit=limit, after=after)


@router.get("/api/repos/{repo_id}/impact", response_model=Impact | Picture, responses=_DRAWN)
async def impact(
    graph: TheGraph,
    module: Targets,
    depth: Depth = 3,
    direction: Direction = "dependents",
    least: Least = "by-name",
    limit: Annotated[int, Query(ge=1, le=5_000)] = 100,
    format: Format = "json",  # noqa: A002
) -> Response | Impact | Picture:
    """What a change reaches, with the path that explains each hit, the tests to run and the risk."""
    answer = await graph.impact(module, depth=depth, direction=direction, least=_SURENESS[least], limit=limit)
    return _drawn(answer, format, limit)


@router.get("/api/repos/{repo_id}/endpoints")
async def endpoints(
    graph: TheGraph,
    path: Annotated[
        str | None,
        Query(max_length=2_000, description="`GET /users/42`, `/users/*`, or a part of the route."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 100,
) -> Endpoints:
    """The requests that are served, all or by a pattern."""
    return await graph.endpoints(path, limit=limit)


@router.get("/api/repos/{repo_id}/dependencies", response_model=Dependencies | Picture, responses=_DRAWN)
async def dependencies(
    graph: TheGraph,
    module: Target,
    least: Least = "by-name",
    limit: Annotated[int, Query(ge=1, le=5_000)] = 100,
    format: Format = "json",  # noqa: A002
) -> Response | Dependencies | Picture:
    """What a module imports and is imported by, calls and is called by."""
    return _drawn(await graph.dependencies(module, least=_SURENESS[least], limit=limit), format, limit)


@router.get("/api/repos/{repo_id}/symbols")
async def symbols(
    graph: TheGraph,
    q: Annotated[str, Query(min_length=1, max_length=500)],
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
) -> Symbols:
    """Symbols by name, the best fit first."""
    return await graph.symbols(q, limit=limit)


@router.get("/api/repos/{repo_id}/risk")
async def risk(graph: TheGraph, module: Targets) -> Risk:
    """How much can go wrong when these change, and why."""
    return await graph.risk(module)


@router.get("/api/repos/{repo_id}/neighbours", response_model=Neighbours | Picture, responses=_DRAWN)
async def neighbours(
    graph: TheGraph,
    node: Target,
    depth: Annotated[int, Query(ge=1, le=5)] = 1,
    least: Least = "by-name",
    limit: Limit = 200,
    format: Format = "json",  # noqa: A002
) -> Response | Neighbours | Picture:
    """A node, what is around it, and every link among these."""
    return _drawn(
        await graph.neighbours(node, depth=depth, least=_SURENESS[least], limit=limit), format, limit
    )


def _drawn(answer: Answered, form: str, most: int) -> Response | Answered | Picture:
    if form == "json":
        return answer
    picture = picture_of(answer, most=most)
    match form:
        case "dot":
            return Response(as_dot(picture), media_type="text/vnd.graphviz")
        case "mermaid":
            return Response(as_mermaid(picture), media_type="text/vnd.mermaid")
        case _:
            return picture
