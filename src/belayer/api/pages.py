"""The browser's part, built into `pages/`: one page for every address that is not the API's, and its assets."""

from pathlib import Path

from fastapi import FastAPI, Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from belayer.api.problems import answer_refusal

BUILT = Path(__file__).parent / "pages"
_NOT_PAGES = ("/api/", "/ws/", "/assets/", "/mcp", "/openapi.json", "/health", "/metrics")
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self' ws: wss:;"
    " frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)
_UNBUILT = """<!doctype html><title>Belayer</title><p>Belayer runs, but its page has not been built.
Run <code>make web</code> in the checkout, or install the wheel. The API is there meanwhile.</p>"""
# A page changes with the release; what it refers to has its content in its name.
_FRESH = {"Cache-Control": "no-cache", "Content-Security-Policy": _POLICY, "Referrer-Policy": "no-referrer"}


class _Assets(StaticFiles):
    """Files whose names change with their content, so they may be kept for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def serve_pages(app: FastAPI, folder: Path = BUILT) -> None:
    """Answer a browser that asks for an address that no route has with the page."""
    if (folder / "assets").is_dir():
        app.mount("/assets", _Assets(directory=folder / "assets"))

    async def page_or_problem(request: Request, error: Exception) -> Response:
        if not _wants_page(request):
            return await answer_refusal(request, error)
        if request.url.path == "/favicon.svg" and (folder / "favicon.svg").is_file():
            return FileResponse(folder / "favicon.svg", media_type="image/svg+xml")
        if not (folder / "index.html").is_file():
            return HTMLResponse(_UNBUILT, headers=_FRESH)
        return FileResponse(folder / "index.html", headers=_FRESH)

    app.add_exception_handler(404, page_or_problem)


def _wants_page(request: Request) -> bool:
    path, accepted = request.url.path, request.headers.get("accept", "")
    if (
        request.scope["type"] != "http"
        or request.method not in ("GET", "HEAD")
        or path.startswith(_NOT_PAGES)
    ):
        return False
    return "text/html" in accepted or path == "/favicon.svg"
