"""Endpoints, tests and tags of TypeScript and JavaScript, and what only looks like them."""

import pytest

from belayer.codegraph.facts import Trait
from belayer.codegraph.graph import Kind, Relation
from belayer.codegraph.languages.typescript import TYPESCRIPT
from tests.codegraph.graphs import edges, nodes


def served(sources: dict[str, str]) -> set[str]:
    """The endpoints with their handlers, as `GET /x -> handler`."""
    lines = (line.partition(" -serves-> ") for line in edges(sources, Relation.SERVES))
    return {
        f"{left.partition('::')[2]} -> {right.split(' ')[0].partition('::')[2]}" for left, _, right in lines
    }


def endpoints(sources: dict[str, str]) -> set[str]:
    return {node.name for node in nodes(sources).values() if node.kind is Kind.ENDPOINT}


# ---- Express and those like it


def test_express_serves_what_its_routers_are_told() -> None:
    sources = {
        "app.js": """
            const express = require('express');
            const users = require('./users');
            const app = express();
            app.get('/', home);
            app.use('/api', users);
            app.route('/things/:id').get(show).post(auth, change);
            function home(req, res) {} function show() {} function change() {} function auth() {}
        """,
        "users.js": """
            const { Router } = require('express');
            const router = Router();
            router.get('/users/:userId(\\\\d+)', find);
            router.post('/users', auth, (req, res) => {});
            function find() {} function auth() {}
            module.exports = router;
        """,
    }
    assert served(sources) == {
        "GET / -> home",
        "GET /things/{id} -> show",
        "POST /things/{id} -> change",
        "GET /api/users/{userId} -> find",
        "POST /api/users -> <lambda:5:28>",
    }


@pytest.mark.parametrize(
    "line",
    [
        "axios.get('/users', config);",
        "cache.get('/users', load);",
        "map.delete('/x', f);",
        "app.get('setting');",
        "request(app).get('/users');",
        "app.use(middleware);",
    ],
)
def test_what_only_looks_like_a_route_is_none(line: str) -> None:
    assert endpoints({"main.js": f"const app = require('express')(); {line}"}) == set()


def test_hono_koa_and_fastify_are_understood() -> None:
    sources = {
        "hono.ts": "import { Hono } from 'hono'; const a = new Hono(); a.get('/h/:id', one); function one() {}",
        "koa.ts": "import Router from '@koa/router'; const r = new Router(); r.put('/k', two); function two() {}",
        "fast.ts": """
            import Fastify from 'fastify';
            const fastify = Fastify();
            fastify.get('/f', { schema: {} }, three);
            fastify.route({ method: 'POST', url: '/g/:id', handler: three });
            function three() {}
        """,
    }
    assert served(sources) == {
        "GET /h/{id} -> one",
        "PUT /k -> two",
        "GET /f -> three",
        "POST /g/{id} -> three",
    }


# ---- Nest


def test_a_nest_controller_serves_under_its_prefix() -> None:
    source = """
        import { Controller, Get, Post } from '@nestjs/common';
        @Controller('cats')
        export class Cats {
            @Get() all() {}
            @Get(':id/toys') one() {}
            @Post('/') make() {}
            helper() {}
        }
        @Controller({ path: 'dogs' })
        export class Dogs { @Get() all() {} }
    """
    assert served({"cats.ts": source}) == {
        "GET /cats -> Cats.all",
        "GET /cats/{id}/toys -> Cats.one",
        "POST /cats -> Cats.make",
        "GET /dogs -> Dogs.all",
    }


def test_a_decorator_of_that_name_from_elsewhere_is_none_of_nest() -> None:
    source = "import { Controller, Get } from './own'; @Controller('x') class A { @Get() all() {} }"
    assert endpoints({"a.ts": source}) == set()


# ---- Next


@pytest.mark.parametrize(
    ("path", "source", "endpoint"),
    [
        ("app/api/users/[id]/route.ts", "export async function GET() {}", "GET /api/users/{id}"),
        ("src/app/(shop)/cart/route.js", "export const POST = () => {};", "POST /cart"),
        ("pages/api/hello.ts", "export default function handler() {}", "ANY /api/hello"),
        ("src/pages/api/a/index.ts", "export default () => {};", "ANY /api/a"),
        ("pages/api/[...slug].ts", "export default () => {};", "ANY /api/{slug*}"),
    ],
)
def test_next_serves_by_the_path_of_the_file(path: str, source: str, endpoint: str) -> None:
    assert endpoints({path: source}) == {endpoint}


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("app/api/route.ts", "export function helper() {}"),
        ("app/users/page.tsx", "export function GET() {}"),
        ("src/route.ts", "export function GET() {}"),
        ("pages/api/x.ts", "export const config = {};"),
    ],
)
def test_other_files_of_next_serve_nothing(path: str, source: str) -> None:
    assert endpoints({path: source}) == set()


# ---- tests


def test_callbacks_of_a_test_runner_are_tests_with_readable_names() -> None:
    source = """
        import { add } from './add';
        describe('adding', () => {
            beforeEach(() => reset());
            it('adds two numbers', () => { add(1, 2); });
            it.each([1])('adds %d', (n) => {});
            test.skip(`later ${1}`, async function () {});
        });
        function reset() {}
    """
    facts = TYPESCRIPT.read("add.test.ts", source.encode())
    assert [each.name for each in facts.definitions if each.traits & Trait.TEST] == [
        "describe adding",
        "it adds two numbers",
        "it adds %d",
        "test later ${1}",
    ]
    assert "test" in facts.tags


def test_a_test_exercises_what_it_calls() -> None:
    sources = {
        "add.test.ts": "import { add } from './add'; test('adds', () => { add(1); });",
        "add.ts": "export function add(a) {}",
    }
    assert edges(sources, Relation.TESTS) == ["add.test.ts::test adds -tests-> add.ts::add resolved"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("main.ts", "test('x', () => {});"),
        ("main.ts", "import { it } from './own'; it('x', () => {});"),
        ("main.ts", "function describe() {} describe('x', () => {});"),
        ("a.test.ts", "it(other, 1);"),
    ],
)
def test_what_only_looks_like_a_test_is_none(path: str, source: str) -> None:
    facts = TYPESCRIPT.read(path, source.encode())
    assert not any(each.traits & Trait.TEST for each in facts.definitions)


# ---- tags


def test_components_and_hooks_are_told() -> None:
    source = """
        import { memo, useState } from 'react';
        export function Row() { return <li/>; }
        const Cell = memo(() => <td/>);
        function useThing() { return useState(1); }
        function helper() { return <b/>; }
        function Plain() { return 1; }
    """
    facts = TYPESCRIPT.read("row.tsx", source.encode())
    assert {each.name: each.tags for each in facts.definitions if each.tags} == {
        "Row": ("react component",),
        "Cell": ("react component",),
        "useThing": ("hook",),
    }
    assert facts.tags == ("react",)


def test_a_chain_of_calls_speaks_of_one_router() -> None:
    sources = {
        "routes.ts": """
            import { Router } from 'express';
            import users from './users';
            const api = Router().use(users).get('/health', health);
            function health() {}
            export default Router().use('/api', api);
        """,
        "users.ts": """
            import { Router } from 'express';
            const router = Router();
            router.get('/users', list);
            function list() {}
            export default router;
        """,
    }
    assert served(sources) == {"GET /api/users -> list", "GET /api/health -> health"}


def test_a_nest_program_has_one_prefix_for_all_its_routes() -> None:
    controller = """
        import { Controller, Get } from '@nestjs/common';
        @Controller('tags') export class Tags { @Get() all() {} }
    """
    sources = {
        "apps/shop/src/main.ts": "async function start() { const app = await make(); app.setGlobalPrefix('api'); }",
        "apps/shop/src/tags/tags.controller.ts": controller,
        "apps/bank/src/tags.controller.ts": controller,
    }
    assert endpoints(sources) == {"GET /api/tags", "GET /tags"}
