"""Where an import of TypeScript or JavaScript leads: relative files, tsconfig paths, packages of the repository."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from posixpath import normpath
from typing import cast

from belayer.codegraph.languages.language import Project

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_SCRIPTS = (".js", ".mjs", ".jsx")
# What a written suffix may stand for: a TypeScript file is imported by the name of what it becomes.
_MEANT = {
    ".js": (".ts", ".tsx", ".d.ts", ".js", ".jsx"),
    ".jsx": (".tsx", ".jsx"),
    ".mjs": (".mts", ".mjs"),
    ".cjs": (".cts", ".cjs"),
}
_BUILT = re.compile(r"^(?:\./)?(?:dist|lib|build|out|es|esm|cjs)(?:/(?:esm|cjs|src|es|lib|types|umd))?/")
_CONDITIONS = ("source", "types", "import", "module", "node", "require", "development", "browser", "default")
_DEEPEST_EXTENDS = 8
_LONGEST_MANIFEST = 2_000_000

Json = dict[str, object]


def resolve(spec: str, importer: str, project: Project) -> tuple[str, ...]:
    """The file of ours that a specifier means."""
    spec = spec.partition("?")[0].rpartition("!")[2]
    folder = importer.rpartition("/")[0]
    if spec.startswith(".") or spec in ("", "/"):
        found = _file(_join(folder, spec), project, importer) if spec else None
        return (found,) if found else ()
    if spec.startswith("node:") or "://" in spec:
        return ()
    found = next(_candidates(spec, importer, folder, project), None)
    return (found,) if found else ()


def _candidates(spec: str, importer: str, folder: str, project: Project) -> Iterator[str]:
    """Where a bare specifier may lead, in the order in which it is looked for."""
    places = [*_aliased(spec, folder, project)]
    if spec.startswith("#"):
        places += _package_import(spec, folder, project)
    else:
        places += _package(spec, project)
    if spec.startswith(("@/", "~/")):
        places += [_join(above, f"src/{spec[2:]}") for above in _above(folder)]
        places += [_join(above, spec[2:]) for above in _above(folder)]
    elif spec.startswith("/"):
        places.append(spec.lstrip("/"))
    elif _is_script(importer, folder, project):
        places += [_join(above, spec) for above in _above(folder)]
    for place in places:
        found = _file(place, project, importer)
        if found:
            yield found


def _is_script(importer: str, folder: str, project: Project) -> bool:
    """Whether a bare name may mean a file: without a package.json there are import maps, AMD, or nothing."""
    if not importer.endswith(_SCRIPTS):
        return False
    manifests = project.manifest("package.json")
    return not any(
        (f"{above}/package.json" if above else "package.json") in manifests for above in _above(folder)
    )


# ---- files


def _file(place: str, project: Project, importer: str) -> str | None:
    """The source file at a place that may lack its suffix, name its output, or be a folder."""
    if place.startswith("../"):
        return None
    dot = place.rfind(".")
    suffix = place[dot:] if dot > place.rfind("/") else ""
    meant = _MEANT.get(suffix)
    if meant is not None:
        is_typed = importer.endswith(("ts", "tsx"))
        order = meant if is_typed else (suffix, *meant)
        found = _first((place[:dot] + end for end in order), project)
    else:
        found = place if suffix in _SUFFIXES and project.has(place) else None
    if found or not place:
        return found or (_first((f"index{end}" for end in _SUFFIXES), project) if not place else None)
    found = _first((place + end for end in _SUFFIXES), project)
    if found or not project.folder(place):
        return found
    return _main(place, project, importer) or _first((f"{place}/index{end}" for end in _SUFFIXES), project)


def _first(paths: Iterator[str], project: Project) -> str | None:
    return next((path for path in paths if project.has(path)), None)


def _main(folder: str, project: Project, importer: str) -> str | None:
    """The entry of a folder that has a package.json of its own."""
    text = project.manifest("package.json").get(f"{folder}/package.json")
    main = _json(text).get("main") if text is not None else None
    if not isinstance(main, str) or main in (".", "./", ""):
        return None
    place = _join(folder, main)
    return _file(place, project, importer) if place != folder else None


def _join(folder: str, spec: str) -> str:
    joined = normpath(f"{folder}/{spec}" if folder else spec)
    return "" if joined == "." else joined.lstrip("/") if spec.startswith("/") else joined


def _above(folder: str) -> Iterator[str]:
    """The folder and those around it, from the inside out."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
    yield ""


# ---- tsconfig


def _aliased(spec: str, folder: str, project: Project) -> Iterator[str]:
    """Where the nearest tsconfig's `paths` and `baseUrl` say that a specifier leads."""
    configs = project.manifest("tsconfig*.json")
    others = project.manifest("jsconfig*.json")
    for above in _above(folder):
        prefix = f"{above}/" if above else ""
        path = f"{prefix}tsconfig.json"
        texts = configs if path in configs else others
        path = path if path in configs else f"{prefix}jsconfig.json"
        if path not in texts:
            continue
        places = [
            place for config in _with_references(path, texts) for place in _paths_of(spec, config, texts)
        ]
        yield from places
        if places:
            return


def _with_references(path: str, texts: Mapping[str, str]) -> list[str]:
    """A config and those that it only refers to (a solution of several)."""
    found = [path]
    listed = _json(texts.get(path)).get("references")
    for entry in _list(listed):
        where = _dict(entry).get("path")
        if isinstance(where, str):
            place = _join(path.rpartition("/")[0], where)
            found.append(place if place.endswith(".json") else f"{place}/tsconfig.json")
    return found


def _paths_of(spec: str, path: str, texts: Mapping[str, str]) -> list[str]:
    """A config's answer, with what it extends behind it."""
    for _ in range(_DEEPEST_EXTENDS):
        config = _json(texts.get(path))
        options, folder = _dict(config.get("compilerOptions")), path.rpartition("/")[0]
        base = options.get("baseUrl")
        root = _join(folder, base) if isinstance(base, str) else folder
        paths = _dict(options.get("paths"))
        if paths or isinstance(base, str):
            matched = [_join(root, place) for place in _matching(spec, paths)]
            return matched + ([_join(root, spec)] if isinstance(base, str) else [])
        following = _extended(config, folder)
        if following is None or following not in texts:
            return []
        path = following
    return []


def _extended(config: Json, folder: str) -> str | None:
    """The config of ours that another one extends; the last of several counts."""
    said = config.get("extends")
    names = [name for name in (_list(said) or [said]) if isinstance(name, str) and name.startswith(".")]
    if not names:
        return None
    place = _join(folder, names[-1])
    return place if place.endswith(".json") else f"{place}.json"


def _matching(spec: str, paths: Json) -> list[str]:
    """The places of the pattern that fits best: an exact one, else the longest before its star."""
    if spec in paths:
        return [place for place in _list(paths[spec]) if isinstance(place, str)]
    found = _best_pattern(spec, paths)
    if found is None:
        return []
    pattern, middle = found
    return [place.replace("*", middle, 1) for place in _list(paths[pattern]) if isinstance(place, str)]


def _best_pattern(spec: str, patterns: Json) -> tuple[str, str] | None:
    """The pattern with a star that fits, and what its star stands for."""
    best: tuple[str, str] | None = None
    length = -1
    for pattern in patterns:
        before, star, after = pattern.partition("*")
        fits = (
            star
            and spec.startswith(before)
            and spec.endswith(after)
            and len(spec) >= len(before) + len(after)
        )
        if fits and len(before) > length:
            best, length = (pattern, spec[len(before) : len(spec) - len(after)]), len(before)
    return best


# ---- packages of the repository


def _package(spec: str, project: Project) -> list[str]:
    """A package of the same repository, by its name: its entry, or the file that a subpath means."""
    parts = spec.split("/")
    name = "/".join(parts[: 2 if spec.startswith("@") else 1])
    rest = spec[len(name) + 1 :]
    for path, text in project.manifest("package.json").items():
        if f'"{name}"' in text:
            manifest = _json(text)
            if manifest.get("name") == name:
                return list(_entries(manifest, path.rpartition("/")[0], rest))
    return []


def _entries(manifest: Json, folder: str, rest: str) -> Iterator[str]:
    key = f"./{rest}" if rest else "."
    for target in _targets(manifest.get("exports"), key):
        yield from _sources(folder, target)
    if rest:
        yield _join(folder, rest)
        yield _join(folder, f"src/{rest}")
        return
    for field in ("source", "types", "typings", "module", "main"):
        target = manifest.get(field)
        if isinstance(target, str):
            yield from _sources(folder, target)
    yield _join(folder, "src/index")
    yield _join(folder, "src/main")
    yield _join(folder, "index")


def _sources(folder: str, target: str) -> Iterator[str]:
    """An entry as it is written, and as it stood before it was built."""
    yield _join(folder, target)
    if _BUILT.match(target):
        stem = re.sub(r"(?:\.d)?\.[cm]?[jt]sx?$", "", _BUILT.sub("", target))
        yield _join(folder, f"src/{stem}")
        yield _join(folder, stem)


def _package_import(spec: str, folder: str, project: Project) -> list[str]:
    """`#x`: the nearest package.json's `imports`."""
    manifests = project.manifest("package.json")
    for above in _above(folder):
        text = manifests.get(f"{above}/package.json" if above else "package.json")
        if text is not None:
            targets = _targets(_json(text).get("imports"), spec)
            return [place for target in targets for place in _sources(above, target)]
    return []


def _targets(table: object, key: str) -> list[str]:
    """What an `exports` or `imports` table gives for a key, by the conditions that lead to sources first."""
    entries = _dict(table)
    if not any(name[:1] in (".", "#") for name in entries):
        return _conditional(table) if key == "." else []
    if key in entries:
        return _conditional(entries[key])
    found = _best_pattern(key, entries)
    if found is None:
        return []
    pattern, middle = found
    return [target.replace("*", middle) for target in _conditional(entries[pattern])]


def _conditional(target: object, depth: int = 0) -> list[str]:
    if isinstance(target, str):
        return [target]
    if depth > _DEEPEST_EXTENDS:
        return []
    listed = _list(target)
    if listed:
        return [place for entry in listed for place in _conditional(entry, depth + 1)]
    entries = _dict(target)
    known = [word for word in _CONDITIONS if word in entries]
    return [place for word in known for place in _conditional(entries[word], depth + 1)]


# ---- JSON with comments


@lru_cache(maxsize=4_096)
def _json(text: str | None) -> Json:
    """An object out of JSON with comments and trailing commas; what is none gives an empty one."""
    if text is None or len(text) > _LONGEST_MANIFEST:
        return {}
    try:
        return _dict(json.loads(text))
    except (ValueError, RecursionError):
        pass
    try:
        return _dict(json.loads(_bare(text)))
    except (ValueError, RecursionError):
        return {}


_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*[}\]])', re.DOTALL
)


def _bare(text: str) -> str:
    """The text without comments and trailing commas."""
    return _TOKEN.sub(lambda found: found[0] if found[0].startswith('"') else "", text.lstrip("\ufeff"))


def _dict(value: object) -> Json:
    return cast(Json, value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
