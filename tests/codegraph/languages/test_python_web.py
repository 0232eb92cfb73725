"""Python's web frameworks and test frameworks: which requests are served by what, and what is tested by what."""

import pytest

from belayer.codegraph.graph import Relation
from tests.codegraph.graphs import edges, nodes


def served(sources: dict[str, str]) -> set[str]:
    """The requests and what serves them, without paths."""
    lines = (line.rsplit(" ", 1)[0] for line in edges(sources, Relation.SERVES))
    return {" > ".join(part.split("::")[-1] for part in line.split(" -serves-> ")) for line in lines}


def test_fastapi_routes_have_all_the_prefixes_they_are_mounted_under() -> None:
    sources = {
        "app.py": """
            from fastapi import FastAPI
            from api import router as api
            app = FastAPI()
            app.include_router(api, prefix="/api")
            @app.get("/")
            def home(): ...
            @app.websocket("/ws")
            async def socket(ws): ...
            def late(): ...
            app.add_api_route("/late", late, methods=["POST", "PUT"])
            """,
        "api/__init__.py": """
            from fastapi import APIRouter
            from .users import router as users
            router = APIRouter(prefix="/v1")
            router.include_router(users, prefix="/users")
            """,
        "api/users.py": """
            from fastapi import APIRouter
            router = APIRouter()
            @router.get("/{id}")
            async def read(id: int): ...
            @router.delete("/{id:path}")
            async def remove(id: str): ...
            """,
    }
    assert served(sources) == {
        "GET / > home",
        "WEBSOCKET /ws > socket",
        "POST /late > late",
        "PUT /late > late",
        "GET /api/v1/users/{id} > read",
        "DELETE /api/v1/users/{id*} > remove",
    }


def test_a_router_that_is_mounted_twice_serves_twice_and_one_that_is_not_once() -> None:
    sources = {
        "main.py": """
            from fastapi import FastAPI, APIRouter
            app = FastAPI()
            twice, never = APIRouter(), APIRouter(prefix="/n")
            @twice.get("/x")
            def x(): ...
            @never.get("/y")
            def y(): ...
            app.include_router(twice, prefix="/a")
            app.include_router(twice, prefix="/b")
            """
    }
    assert served(sources) == {"GET /a/x > x", "GET /b/x > x", "GET /n/y > y"}


def test_starlette_routes_stand_in_lists_and_mounts() -> None:
    sources = {
        "main.py": """
            from starlette.applications import Starlette
            from starlette.routing import Route, Mount, WebSocketRoute
            from more import routes as more
            def home(request): ...
            def item(request): ...
            async def ws(socket): ...
            routes = [
                Route("/", home),
                Mount("/in", routes=[Route("/item/{id:int}", item, methods=["GET", "POST"])]),
                Mount("/more", routes=more),
                WebSocketRoute("/ws", ws),
            ]
            app = Starlette(routes=routes)
            """,
        "more.py": "from starlette.routing import Route\ndef m(r): ...\nroutes = [Route('/m', m)]\n",
    }
    assert served(sources) == {
        "GET / > home",
        "GET /in/item/{id} > item",
        "POST /in/item/{id} > item",
        "GET /more/m > m",
        "WEBSOCKET /ws > ws",
    }


def test_flask_routes_blueprints_and_method_views() -> None:
    sources = {
        "app.py": """
            from flask import Flask
            from shop import bp, plain
            def create():
                app = Flask(__name__)
                app.register_blueprint(bp)
                app.register_blueprint(plain, url_prefix="/plain")
                return app
            """,
        "shop.py": """
            from flask import Blueprint
            from flask.views import MethodView
            bp = Blueprint("shop", __name__, url_prefix="/shop")
            plain = Blueprint("plain", __name__)
            @bp.route("/items/<int:id>", methods=["GET", "POST"])
            def items(id): ...
            @plain.get("/files/<path:p>")
            def files(p): ...
            class Cart(MethodView):
                def get(self): ...
                def post(self): ...
            bp.add_url_rule("/cart", view_func=Cart.as_view("cart"))
            """,
    }
    assert served(sources) == {
        "GET /shop/items/{id} > items",
        "POST /shop/items/{id} > items",
        "GET /plain/files/{p*} > files",
        "GET /shop/cart > Cart",
        "GET /shop/cart > Cart.get",
        "POST /shop/cart > Cart",
        "POST /shop/cart > Cart.post",
    }


def test_django_urls_include_each_other() -> None:
    sources = {
        "site/urls.py": """
            from django.urls import path, re_path, include
            from shop import views
            from shop.views import Detail
            urlpatterns = [
                path("", views.home),
                path("shop/", include("shop.urls")),
                path("extra/", include([path("x/", views.home)])),
                re_path(r"^old/(?P<year>[0-9]{4})/$", views.home),
            ]
            urlpatterns += [path("late/", views.home)]
            """,
        "shop/__init__.py": "",
        "shop/urls.py": """
            from django.urls import path
            from django.contrib.auth.decorators import login_required
            from .views import Detail, edit
            urlpatterns = [path("<int:pk>/", Detail.as_view()), path("edit/<slug:s>/", login_required(edit))]
            """,
        "shop/views.py": """
            from django.views import View
            def home(request): ...
            def edit(request, s): ...
            class Detail(View):
                def get(self, request, pk): ...
            """,
    }
    assert served(sources) == {
        "ANY / > home",
        "GET /shop/{pk}/ > Detail",
        "GET /shop/{pk}/ > Detail.get",
        "ANY /shop/edit/{s}/ > edit",
        "ANY /extra/x/ > home",
        "ANY /old/{year}/ > home",
        "ANY /late/ > home",
    }


@pytest.mark.parametrize(
    "line", ["d.get('/x')", "cache.get('/x', f)", "@register.filter('x')\ndef g(): ...", "path('x', f)"]
)
def test_what_only_looks_like_a_route_is_none(line: str) -> None:
    assert served({"main.py": f"def f(): ...\n{line}\n"}) == set()


def test_an_endpoint_is_a_node_with_its_framework() -> None:
    found = nodes({"main.py": "from flask import Flask\napp = Flask('x')\n@app.route('/x')\ndef x(): ...\n"})
    node = found["main.py::GET /x"]
    assert (node.kind, node.name, node.tags, node.line) == ("endpoint", "GET /x", ("flask",), 3)


def test_a_test_tests_what_it_calls_outside_of_the_tests() -> None:
    sources = {
        "shop.py": "class Cart:\n    def add(self): helper()\ndef helper(): pass\n",
        "tests/test_cart.py": """
            from shop import Cart
            from tools import make
            def test_adding(): Cart().add()
            def check(): Cart().add()
            class TestMore:
                def test_it(self): make()
            """,
        "tests/tools.py": "def make(): pass\n",
    }
    assert edges(sources, Relation.TESTS) == [
        "tests/test_cart.py::test_adding -tests-> shop.py::Cart resolved",
        "tests/test_cart.py::test_adding -tests-> shop.py::Cart.add resolved",
    ]
    found = nodes(sources)
    assert {node.id for node in found.values() if "test" in node.tags} == {
        "tests/test_cart.py",
        "tests/test_cart.py::test_adding",
        "tests/test_cart.py::TestMore",
        "tests/test_cart.py::TestMore.test_it",
        "tests/tools.py",
    }


def test_unittest_methods_are_tests_wherever_they_stand() -> None:
    source = """
        import unittest
        def f(): pass
        class Case(unittest.TestCase):
            def test_f(self): f()
            def helper(self): f()
        """
    assert edges({"checks.py": source}, Relation.TESTS) == [
        "checks.py::Case.test_f -tests-> checks.py::f resolved"
    ]


def test_fixtures_are_called_by_who_names_them() -> None:
    sources = {
        "shop.py": "class Cart:\n    def add(self): pass\n",
        "conftest.py": "import pytest\nfrom shop import Cart\n@pytest.fixture\ndef base(): return Cart()\n",
        "tests/conftest.py": """
            import pytest
            @pytest.fixture(scope="session")
            def cart(base):
                yield base
            def not_a_fixture(): pass
            """,
        "tests/test_cart.py": "def test_add(cart, not_a_fixture, missing): cart.add()\n",
        "tests/other/test_x.py": "import pytest\n@pytest.fixture\ndef cart(): pass\ndef test_x(cart): pass\n",
    }
    assert [line for line in edges(sources) if "Cart" not in line] == [
        "tests/conftest.py::cart -calls-> conftest.py::base inferred",
        "tests/other/test_x.py::test_x -calls-> tests/other/test_x.py::cart inferred",
        "tests/test_cart.py::test_add -calls-> tests/conftest.py::cart inferred",
    ]
    assert "tests/test_cart.py::test_add -calls-> shop.py::Cart.add inferred" in edges(sources)


def test_django_routes_are_read_out_of_regular_expressions() -> None:
    sources = {
        "urls.py": r"""
            from django.conf.urls import url
            from views import follow, orders
            urlpatterns = [
                url(r'^profiles/(?P<username>\w+)/follow/?$', follow),
                url(r'^orders/(?P<year>[0-9]{4})/(?P<slug>[-\w]+)\.json$', orders),
            ]
            """,
        "views.py": "def follow(request): ...\ndef orders(request): ...\n",
    }
    assert served(sources) == {
        "ANY /profiles/{username}/follow > follow",
        "ANY /orders/{year}/{slug}.json > orders",
    }


def test_a_prefix_may_be_a_constant_or_a_setting() -> None:
    sources = {
        "app.py": """
            from fastapi import FastAPI
            from config import settings
            from users import router
            app = FastAPI()
            app.include_router(router, prefix=settings.PREFIX)
            """,
        "config.py": "class Settings:\n    PREFIX: str = '/api/v1'\n    OTHER = '/no'\nsettings = Settings()\n",
        "users.py": """
            from fastapi import APIRouter
            ROOT = "/users"
            router = APIRouter(prefix=ROOT)
            @router.get("/me")
            def me(): ...
            """,
    }
    assert served(sources) == {"GET /api/v1/users/me > me"}


def test_a_prefix_that_nobody_can_tell_is_left_out() -> None:
    sources = {
        "app.py": """
            import os
            from fastapi import APIRouter, FastAPI
            app, router = FastAPI(), APIRouter(prefix=os.environ["ROOT"])
            app.include_router(router, prefix=unknown.PREFIX)
            @router.get("/me")
            def me(): ...
            """,
    }
    assert served(sources) == {"GET /me > me"}
