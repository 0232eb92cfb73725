"""Where an import leads: files, aliases of tsconfig, packages of the repository, and what is none of ours."""

import fnmatch
from collections.abc import Mapping
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.codegraph.languages.typescript import TYPESCRIPT
from tests.codegraph.graphs import edges


class Repository:
    """A project of these files; those with a text are manifests."""

    def __init__(self, *paths: str, **manifests: str) -> None:
        self.paths = set(paths)
        self.manifests = {
            name.replace("__", "/").replace("_json", ".json"): text for name, text in manifests.items()
        }

    def has(self, path: str) -> bool:
        return path in self.paths

    def folder(self, path: str) -> bool:
        return any(other.startswith(f"{path}/") for other in self.paths)

    def in_package(self, package: str) -> tuple[str, ...]:
        return ()

    def manifest(self, name: str) -> Mapping[str, str]:
        return {
            path: text
            for path, text in self.manifests.items()
            if fnmatch.fnmatch(PurePosixPath(path).name, name)
        }

    def leads(self, spec: str, importer: str = "src/main.ts") -> str | None:
        return next(iter(TYPESCRIPT.imported(spec, importer, self)), None)


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("./lib", "src/lib.ts"),
        ("./lib", "src/lib.tsx"),
        ("./lib", "src/lib.d.ts"),
        ("./lib", "src/lib.js"),
        ("./lib", "src/lib/index.tsx"),
        ("./lib.js", "src/lib.ts"),
        ("./lib.jsx", "src/lib.tsx"),
        ("./lib.mjs", "src/lib.mts"),
        ("./lib.ts", "src/lib.ts"),
        ("../lib", "lib.ts"),
        (".", "src/index.ts"),
        ("./", "src/index.ts"),
        ("..", "index.ts"),
        ("./lib.model", "src/lib.model.ts"),
        ("./lib?raw", "src/lib.ts"),
    ],
)
def test_a_relative_import_finds_its_file(spec: str, path: str) -> None:
    assert Repository(path).leads(spec) == path


def test_a_file_comes_before_a_folder() -> None:
    assert Repository("src/lib.ts", "src/lib/index.ts").leads("./lib") == "src/lib.ts"


def test_typescript_comes_before_what_it_was_built_to() -> None:
    assert Repository("src/lib.ts", "src/lib.js").leads("./lib.js") == "src/lib.ts"


def test_javascript_that_names_a_javascript_file_means_it() -> None:
    assert Repository("src/lib.ts", "src/lib.js").leads("./lib.js", "src/main.js") == "src/lib.js"


@pytest.mark.parametrize(
    "spec", ["lib", "react", "node:fs", "./other", "../../../lib", "https://x.y/lib.ts", ""]
)
def test_what_is_none_of_ours_leads_nowhere(spec: str) -> None:
    assert Repository("src/lib.ts", "lib.ts", "react/index.d.ts").leads(spec) is None


PATHS = """{ // ours
    "compilerOptions": { /* here */ "baseUrl": ".", "paths": { "@/*": ["src/*"], "@lib": ["lib/main.ts"], } }
}"""


def test_an_alias_of_tsconfig_is_followed() -> None:
    repository = Repository("src/a/b.ts", "lib/main.ts", tsconfig_json=PATHS)
    assert repository.leads("@/a/b") == "src/a/b.ts"
    assert repository.leads("@lib") == "lib/main.ts"
    assert repository.leads("@other") is None


def test_the_longest_pattern_counts() -> None:
    text = '{"compilerOptions": {"paths": {"@/*": ["one/*"], "@/deep/*": ["two/*"]}}}'
    assert Repository("one/deep/x.ts", "two/x.ts", tsconfig_json=text).leads("@/deep/x") == "two/x.ts"


def test_the_next_place_of_an_alias_is_tried() -> None:
    text = '{"compilerOptions": {"paths": {"@/*": ["one/*", "two/*"]}}}'
    assert Repository("two/x.ts", tsconfig_json=text).leads("@/x") == "two/x.ts"


def test_base_url_makes_bare_names_ours() -> None:
    repository = Repository("src/shop/cart.ts", tsconfig_json='{"compilerOptions": {"baseUrl": "src"}}')
    assert repository.leads("shop/cart") == "src/shop/cart.ts"


def test_the_nearest_tsconfig_counts_and_those_above_are_asked_after_it() -> None:
    repository = Repository(
        "a/own/x.ts",
        "shared/x.ts",
        a__tsconfig_json='{"compilerOptions": {"paths": {"~/*": ["own/*"]}}}',
        tsconfig_json='{"compilerOptions": {"paths": {"~/*": ["shared/*"], "#s/*": ["shared/*"]}}}',
    )
    assert repository.leads("~/x", "a/main.ts") == "a/own/x.ts"
    assert repository.leads("~/x", "b/main.ts") == "shared/x.ts"
    assert repository.leads("#s/x", "a/main.ts") == "shared/x.ts"


def test_a_tsconfig_has_the_paths_of_what_it_extends() -> None:
    repository = Repository("src/x.ts")
    repository.manifests = {
        "app/tsconfig.json": '{"extends": "../tsconfig.base.json"}',
        "tsconfig.base.json": '{"compilerOptions": {"paths": {"@x": ["src/x"]}}}',
    }
    assert repository.leads("@x", "app/main.ts") == "src/x.ts"


def test_a_solution_has_the_paths_of_its_projects() -> None:
    repository = Repository("src/x.ts")
    repository.manifests = {
        "tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
        "tsconfig.app.json": '{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}',
    }
    assert repository.leads("@/x") == "src/x.ts"


def test_configs_that_extend_each_other_end() -> None:
    repository = Repository("src/x.ts")
    repository.manifests = {
        "tsconfig.json": '{"extends": "./tsconfig.b.json"}',
        "tsconfig.b.json": '{"extends": "./tsconfig.json"}',
    }
    assert repository.leads("@x") is None


def test_jsconfig_serves_where_there_is_no_tsconfig() -> None:
    text = '{"compilerOptions": {"paths": {"@/*": ["app/*"]}}}'
    assert Repository("app/x.js", jsconfig_json=text).leads("@/x", "main.js") == "app/x.js"


CORE = """{"name": "@acme/core", "main": "dist/index.js", "exports": {
    ".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"},
    "./math": "./src/math.ts", "./deep/*": "./dist/deep/*.js"}}"""


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("@acme/core", "packages/core/src/index.ts"),
        ("@acme/core/math", "packages/core/src/math.ts"),
        ("@acme/core/deep/x", "packages/core/src/deep/x.ts"),
        ("@acme/core/other", "packages/core/src/other.ts"),
    ],
)
def test_a_package_of_the_repository_is_found_by_its_name(spec: str, path: str) -> None:
    repository = Repository(path, packages__core__package_json=CORE)
    assert repository.leads(spec, "packages/web/src/main.ts") == path


def test_a_package_with_another_name_is_not_ours() -> None:
    repository = Repository("packages/core/src/index.ts", packages__core__package_json=CORE)
    assert repository.leads("@acme/cor", "packages/web/src/main.ts") is None


def test_imports_of_the_own_package_are_followed() -> None:
    text = '{"name": "x", "imports": {"#db": "./src/db.ts", "#u/*": "./src/u/*.ts"}}'
    repository = Repository("src/db.ts", "src/u/a.ts", package_json=text)
    assert repository.leads("#db") == "src/db.ts"
    assert repository.leads("#u/a") == "src/u/a.ts"


def test_a_folder_with_a_package_of_its_own_has_its_main() -> None:
    repository = Repository("src/lib/start.js", src__lib__package_json='{"main": "start.js"}')
    assert repository.leads("./lib") == "src/lib/start.js"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '"x"',
        '{"compilerOptions": []}',
        '{"compilerOptions": {"paths": [1]}}',
        "[" * 9_999,
    ],
)
def test_a_broken_manifest_says_nothing(text: str) -> None:
    repository = Repository("src/x.ts", tsconfig_json=text, package_json=text)
    assert repository.leads("@/nothing") is None


@given(st.text(alphabet="./@#*ab", max_size=12), st.text(alphabet='{}[]":,/*\\ab', max_size=40))
def test_no_specifier_and_no_manifest_raises(spec: str, text: str) -> None:
    Repository("src/a.ts", tsconfig_json=text, package_json=text).leads(spec)


def test_a_script_without_a_package_finds_the_file_beside_it() -> None:
    repository = Repository("lib.js", "parts/main.js", "parts/near.js")
    assert repository.leads("near", "parts/main.js") == "parts/near.js"
    assert repository.leads("lib", "parts/main.js") == "lib.js"


def test_a_bare_name_is_a_package_where_there_may_be_packages() -> None:
    sources = {
        "main.js": "import { a } from 'lib'; a();",
        "lib.js": "export function a() {}",
        "package.json": "{}",
    }
    assert edges(sources) == []
