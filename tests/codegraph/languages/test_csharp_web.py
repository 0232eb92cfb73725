"""Endpoints and tests of C#, and what only looks like them."""

from belayer.codegraph.facts import Trait
from belayer.codegraph.graph import Relation
from belayer.codegraph.languages.csharp import CSHARP
from tests.codegraph.graphs import edges


def served(source: str) -> set[str]:
    """The endpoints with their handlers, as `GET /x -> A.F`."""
    lines = (line.partition(" -serves-> ") for line in edges({"A.cs": source}, Relation.SERVES))
    return {
        f"{left.partition('::')[2]} -> {right.rpartition(' ')[0].partition('::')[2]}"
        for left, _, right in lines
    }


def test_attributes_join_the_route_of_the_class_and_of_the_method() -> None:
    found = served(
        """
        [ApiController, Route("api/[controller]")]
        public class CartsController : ControllerBase {
            [HttpGet("{id:int}")] public void One(int id) {}
            [HttpPost] public void Add() {}
            [HttpGet, Route("all")] public void All() {}
            [HttpDelete("/gone/{*path}")] public void Gone() {}
            private void Helper() {}
            [NonAction] public void No() {}
        }
        """
    )
    assert found == {
        "GET /api/Carts/{id} -> CartsController.One",
        "POST /api/Carts -> CartsController.Add",
        "GET /api/Carts/all -> CartsController.All",
        "DELETE /gone/{path*} -> CartsController.Gone",
    }


def test_an_action_without_a_route_has_the_conventional_one() -> None:
    found = served(
        """
        public class HomeController : Controller {
            public void Index() {} [HttpPost] public void Save() {} void No() {}
        }
        """
    )
    assert found == {"GET /Home/Index -> HomeController.Index", "POST /Home/Save -> HomeController.Save"}


def test_minimal_apis_are_served_under_their_groups() -> None:
    found = served(
        """
        var app = WebApplication.CreateBuilder(args).Build();
        var api = app.MapGroup("/api").WithTags("api");
        var todos = api.MapGroup("todos");
        todos.MapGet("/{id}", One);
        app.MapPost("/x", (int y) => y);
        app.Run();
        static int One(int id) => id;
        """
    )
    assert found == {"GET /api/todos/{id} -> One", "POST /x -> <lambda:6:18>"}


def test_a_class_that_is_no_controller_serves_nothing() -> None:
    assert served("public class Home : Page { public void Index() {} }") == set()


def test_tests_of_three_frameworks_are_found() -> None:
    methods = "[Fact] void A() {} [Theory] void B() {} [Test] void C() {} [TestMethod] void D() {} [SetUp] void E() {}"
    facts = CSHARP.read("A.cs", f"class T {{ {methods} }}".encode())
    assert {each.name for each in facts.definitions if each.traits & Trait.TEST} == {"A", "B", "C", "D"}
