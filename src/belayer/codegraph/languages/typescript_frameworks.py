"""What frameworks make of a file: the requests it serves (Express and its like, Nest, Next), its tests, its tags."""

import re

from tree_sitter import Node

from belayer.codegraph.facts import Expr, Mount, Route, Shape
from belayer.codegraph.languages.typescript_drafts import Draft, Written
from belayer.codegraph.languages.typescript_reading import Reading
from belayer.codegraph.languages.typescript_values import MODULE, inside, number_of, pairs, parts
from belayer.codegraph.languages.typescript_words import CASES, RUNNERS, SUITES

METHODS = {word: word.upper() for word in ("get", "post", "put", "delete", "patch", "options", "head")} | {
    "all": "ANY",
    "del": "DELETE",
}
ROUTED = frozenset(METHODS) | {"use", "route", "register", "setGlobalPrefix"}
# The packages whose routers have get, post, use …, and the framework that their routes are told by.
_FRAMEWORKS = {
    "express": "express",
    "express-promise-router": "express",
    "router": "express",
    "polka": "polka",
    "restify": "restify",
    "fastify": "fastify",
    "koa": "koa",
    "koa-router": "koa",
    "@koa/router": "koa",
    "hono": "hono",
    "@hono/node-server": "hono",
    "@hono/zod-openapi": "hono",
}
_ROUTER_NAME = re.compile(r"(?:^|[a-z_$])(?:app|router|routes|server|api|fastify|instance)$", re.IGNORECASE)
_NEST = {"Get", "Post", "Put", "Delete", "Patch", "Options", "Head", "All", "Sse"}
_NEXT_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_TEST_PATH = re.compile(
    r"(?:^|/)(?:__tests__|tests?|specs?|e2e|cypress)/|[.\-_](?:test|spec|e2e|cy)\.[cm]?[jt]sx?$"
)
_PARAMETER = re.compile(r":([A-Za-z_]\w*)(?:\([^()]*\))?[?*+]?")
_CALLABLE = frozenset(("def", "name", "bound", "attr", "call", "import", "any", "list"))


# ---- tests


def is_test_path(path: str) -> bool:
    return _TEST_PATH.search(path) is not None


def test_call(r: Reading, callee: Node, first: Node) -> str | None:
    """`it("adds two numbers", () => …)`: what the callback is called, or nothing if this is no test."""
    if first.type not in ("string", "template_string", "identifier"):
        return None
    word = _runner_word(r, callee)
    if word is None:
        return None
    said = r.text(first)
    title = said[1:-1] if first.type != "identifier" else said
    r.tags["test"] = None
    return f"{word} {' '.join(title.split())[:80]}"


def _runner_word(r: Reading, callee: Node) -> str | None:
    """describe, it or test: also as it.only, test.each(table), describe.skip."""
    node: Node | None = callee
    while node is not None and node.type in ("member_expression", "call_expression"):
        node = node.child_by_field_name("object") or node.child_by_field_name("function")
    if node is None or node.type != "identifier":
        return None
    word = r.text(node)
    if word not in SUITES and word not in CASES:
        return None
    if word in r.imported:
        return word if r.imported[word][0] in RUNNERS else None
    if word in r.declared[0]:
        return None
    return word if r.is_test or word in ("describe", "it") else None


# ---- tags


def tag_function(draft: Draft) -> None:
    """What a function is, by its name and what it gives."""
    if draft.shape is Shape.METHOD:
        return
    word = draft.name.rpartition(".")[2]
    if draft.has_jsx and word[:1].isupper():
        draft.tags.append("react component")
    elif word.startswith("use") and word[3:4].isupper():
        draft.tags.append("hook")


def module_tags(r: Reading) -> None:
    """What the packages that a file imports, and its path, say of it."""
    specs = {entry.spec for entry in r.imports}
    if is_test_path(r.path) or specs & RUNNERS:
        r.tags["test"] = None
    for spec, tag in (("react", "react"), ("vue", "vue"), ("svelte", "svelte")):
        if spec in specs:
            r.tags[tag] = None
    if any(spec.startswith("@nestjs/") for spec in specs):
        r.tags["nest"] = None
    if any(spec == "next" or spec.startswith("next/") for spec in specs):
        r.tags["next"] = None
    for spec in specs:
        if spec in _FRAMEWORKS:
            r.tags[_FRAMEWORKS[spec]] = None
    if r.routes:
        r.tags["endpoint"] = None


# ---- Express and those like it


def framework_call(r: Reading, written: Written, node: Node) -> Expr | None:
    """A call that registers a route or mounts a router; the router, which such a call gives back."""
    word, holder = written.word, written.holder
    if holder is None or not written.args:
        return None
    router, known = _chain_start(r, holder), len(r.routes) + len(r.mounts)
    if word in METHODS:
        _verb(r, written, router, node)
    elif word == "use" or (word == "route" and len(written.args) == 2):
        _use(r, written, router, node)
    elif word == "route" and written.args[0][0] == "dict":
        _fastify_route(r, written, router, node)
    elif word == "register" and len(written.args) == 2:
        _register(r, written, router, node)
    elif word == "setGlobalPrefix" and (prefix := literal_text(r, written.nodes[0])):
        r.mounts.append(Mount(None, route_path(prefix), MODULE, "nest", r.scope, node.start_point[0] + 1))
    return router if len(r.routes) + len(r.mounts) > known else None


def _chain_start(r: Reading, holder: Expr) -> Expr:
    """The router that `Router().use(a).get("/x", b)` speaks of all along."""
    while holder[0] in ("call", "any"):
        if holder[0] == "any":  # what a call gives, and the router that it is known to give
            first = parts(holder)[0] if parts(holder) else holder
            if first[0] != "call":
                return holder
            holder = first
        callee = r.calls[number_of(holder)].callee
        if callee[0] != "attr" or callee[2] not in ROUTED or callee[2] == "route":
            return holder
        holder = inside(callee)
    return holder


def _verb(r: Reading, written: Written, holder: Expr, node: Node) -> None:
    base, path = holder, literal_text(r, written.nodes[0])
    handlers = written.args[1:]
    chained = _route_chain(r, written.callee)
    if chained is not None:
        base, path = chained
        handlers = written.args
    if path is None or not handlers or not path.startswith(("/", "*")) or handlers[-1][0] not in _CALLABLE:
        return
    framework = _framework(r, base)
    if framework is None:
        return
    row = node.start_point[0] + 1
    method = METHODS[written.word]
    handler = handlers[-1]
    if handler[0] == "list" and parts(handler):
        handler = parts(handler)[-1]
    r.routes.append(Route((method,), route_path(path), handler, base, framework, r.scope, row))


def _route_chain(r: Reading, callee: Node) -> tuple[Expr, str] | None:
    """`router.route("/x").get(f).post(g)`: the router and the path, from the chain's start."""
    node = callee.child_by_field_name("object")
    while node is not None and node.type == "call_expression":
        inner, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if inner is None or inner.type != "member_expression" or arguments is None:
            return None
        word, holder = inner.child_by_field_name("property"), inner.child_by_field_name("object")
        if word is not None and holder is not None and r.text(word) == "route" and arguments.named_children:
            path = literal_text(r, arguments.named_children[0])
            return (
                (r.name(r.text(holder)), path) if path is not None and holder.type == "identifier" else None
            )
        node = holder
    return None


def _framework(r: Reading, base: Expr) -> str | None:
    """What a router belongs to; nothing if it looks like no router."""
    known = next((_FRAMEWORKS[entry.spec] for entry in r.imports if entry.spec in _FRAMEWORKS), None)
    maker = _maker(r, r.bindings[number_of(base)].value if base[0] == "bound" else base)
    if maker is not None:
        return maker
    name = _spoken(r, base)
    return (known or "express") if _ROUTER_NAME.search(name) else None


def _maker(r: Reading, value: Expr) -> str | None:
    """The framework that made a value: express(), Router(), new Hono()."""
    if value[0] != "call":
        return None
    callee = r.calls[number_of(value)].callee
    while callee[0] == "attr":
        callee = inside(callee)
    if callee[0] == "import":
        return _FRAMEWORKS.get(str(callee[1]))
    return _FRAMEWORKS.get(r.imported.get(str(callee[1]), ("",))[0]) if callee[0] == "name" else None


def _spoken(r: Reading, base: Expr) -> str:
    if base[0] == "bound":
        return r.bindings[number_of(base)].name
    return str(base[-1]) if base[0] in ("name", "attr") else ""


def _use(r: Reading, written: Written, holder: Expr, node: Node) -> None:
    """`app.use("/api", router)`, Hono's `app.route("/api", router)`."""
    path = literal_text(r, written.nodes[0])
    children = written.args[1:] if path is not None else written.args
    framework = _framework(r, holder)
    if framework is None or (path is None and written.word == "route"):
        return
    for child in children:
        if child[0] in ("name", "bound", "attr", "import", "call", "any"):
            held = _router_of(r, child)
            prefix = route_path(path or "")
            r.mounts.append(Mount(holder, prefix, held, framework, r.scope, node.start_point[0] + 1))


def _router_of(r: Reading, value: Expr) -> Expr:
    """The router in what is mounted: Koa's `router.routes()`, what a CommonJS module exports."""
    if value[0] == "bound":
        value = (
            r.bindings[number_of(value)].value if r.bindings[number_of(value)].value[0] == "import" else value
        )
    if value[0] == "import" and value[2] is None:
        return ("import", value[1], "default")
    callee = r.calls[number_of(value)].callee if value[0] == "call" else value
    if value[0] == "call" and callee[0] == "attr" and callee[2] in ("routes", "middleware"):
        return inside(callee)
    return value


def _fastify_route(r: Reading, written: Written, holder: Expr, node: Node) -> None:
    """`fastify.route({ method: "GET", url: "/x", handler })`."""
    given = dict(pairs(written.args[0]))
    method, url, handler = given.get("method"), given.get("url") or given.get("path"), given.get("handler")
    if method is None or url is None or handler is None or url[0] != "key":
        return
    listed = parts(method) if method[0] == "list" else (method,)
    methods = tuple(str(one[1]).upper() for one in listed if one[0] == "key")
    path = route_path(str(url[1]))
    if methods:
        r.routes.append(Route(methods, path, handler, holder, "fastify", r.scope, node.start_point[0] + 1))


def _register(r: Reading, written: Written, holder: Expr, node: Node) -> None:
    """`fastify.register(plugin, { prefix: "/x" })`."""
    plugin, options = written.args
    if options[0] != "dict" or plugin[0] not in _CALLABLE:
        return
    prefix = next((value for key, value in pairs(options) if key == "prefix" and value[0] == "key"), None)
    if prefix is not None:
        path = route_path(str(prefix[1]))
        r.mounts.append(Mount(holder, path, plugin, "fastify", r.scope, node.start_point[0] + 1))


def literal_text(r: Reading, node: Node) -> str | None:
    """The text of a string that is written there."""
    if node.type == "string":
        return r.text(node)[1:-1]
    if node.type == "template_string":
        return re.sub(r"\$\{[^}]*\}", "", r.text(node)[1:-1])
    return None


def route_path(path: str) -> str:
    """`/users/:id(\\d+)?` as `/users/{id}`; the slash at the front is always there, one at the end never."""
    spelled = _PARAMETER.sub(r"{\1}", path).strip("/")
    return f"/{spelled}" if spelled or path else ""


# ---- Nest


def decorated_class(r: Reading, number: int, decorators: list[Node]) -> str | None:
    """The prefix of a `@Controller`, or nothing if the class is none."""
    for node in decorators:
        word, said = _decorator(r, node)
        if word == "Controller" and "@nestjs/common" in r.imported.get(word, ("",)):
            r.definitions[number].tags.append("controller")
            return _path_option(r, said)
    return None


def decorated_method(r: Reading, number: int, decorators: list[Node], prefix: str | None) -> None:
    """`@Get(":id")` in a controller serves it."""
    if prefix is None:
        return
    for node in decorators:
        word, said = _decorator(r, node)
        if word not in _NEST:
            continue
        method = "ANY" if word == "All" else "GET" if word == "Sse" else word.upper()
        path = route_path(f"{prefix}/{_path_option(r, said)}".replace("//", "/"))
        r.definitions[number].tags.append("endpoint")
        row = node.start_point[0] + 1
        r.routes.append(Route((method,), path or "/", ("def", number), None, "nest", r.scope, row))


def _decorator(r: Reading, node: Node) -> tuple[str, Node | None]:
    """A decorator's name and what stands in its parentheses."""
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return "", None
    if inner.type == "call_expression":
        callee, arguments = inner.child_by_field_name("function"), inner.child_by_field_name("arguments")
        return r.text(callee) if callee is not None else "", arguments
    return r.text(inner), None


def _path_option(r: Reading, arguments: Node | None) -> str:
    """`("users")` and `({ path: "users" })`."""
    for node in arguments.named_children if arguments is not None else ():
        text = literal_text(r, node)
        if text is not None:
            return text
        for pair in node.named_children if node.type == "object" else ():
            key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if key is not None and value is not None and r.text(key) == "path":
                return literal_text(r, value) or ""
    return ""


# ---- Next


def next_routes(r: Reading) -> None:
    """Files under pages/api and app/**/route: the path is the file's, the handlers its exports."""
    if "api/" not in r.path and "/route." not in r.path:
        return
    folders = re.sub(r"\.[cm]?[jt]sx?$", "", r.path).split("/")
    if folders[-1] == "route" and "app" in folders[:-1]:
        path = _file_path(folders[len(folders) - folders[::-1].index("app") : -1])
        for method in _NEXT_METHODS:
            if method in r.exports:
                r.routes.append(Route((method,), path, r.exports[method], None, "next", 0, 1))
                r.tags["next"] = None
    elif "api" in folders and "pages" in folders and folders.index("pages") == folders.index("api") - 1:
        handler = r.exports.get("default")
        if handler is not None:
            path = _file_path(folders[folders.index("api") :])
            r.routes.append(Route(("ANY",), path, handler, None, "next", 0, 1))
            r.tags["next"] = None


def _file_path(folders: list[str]) -> str:
    """`[id]` is `{id}`, `[...slug]` is `{slug*}`; groups and slots are no part of the path."""
    parts: list[str] = []
    for folder in folders:
        if folder == "index" or (folder.startswith("(") and folder.endswith(")")) or folder.startswith("@"):
            continue
        caught = re.fullmatch(r"\[{1,2}(\.{3})?(\w+)\]{1,2}", folder)
        parts.append(f"{{{caught[2]}{'*' if caught[1] else ''}}}" if caught else folder)
    return "/" + "/".join(parts)
