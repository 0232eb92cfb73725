"""Endpoints and tests of Go, and what only looks like them."""

import pytest

from belayer.codegraph.facts import Trait
from belayer.codegraph.graph import Relation
from belayer.codegraph.languages.go import GO
from tests.codegraph.graphs import edges


def served(imported: str, body: str) -> set[str]:
    """The endpoints with their handlers, as `GET /x -> f`."""
    source = f'package main\nimport "{imported}"\nfunc h() {{}}\nfunc routes(r *Router) {{\n{body}\n}}'
    lines = (line.partition(" -serves-> ") for line in edges({"main.go": source}, Relation.SERVES))
    return {
        f"{left.partition('::')[2]} -> {right.rpartition(' ')[0].partition('::')[2]}"
        for left, _, right in lines
    }


def test_net_http_serves_patterns_with_and_without_a_method() -> None:
    found = served(
        "net/http", 'http.HandleFunc("/x", h)\nr.HandleFunc("GET /y/{id}/{rest...}", h)\nr.Handle("/z/", h)'
    )
    assert found == {"ANY /x -> h", "GET /y/{id}/{rest*} -> h", "ANY /z/ -> h"}


def test_gorilla_is_told_its_methods_afterwards() -> None:
    found = served(
        "github.com/gorilla/mux",
        """
        s := r.PathPrefix("/api").Subrouter()
        s.HandleFunc("/x/{id:[0-9]+}", h).Methods("GET", http.MethodPut)
        r.HandleFunc("/y", h)
        """,
    )
    assert found == {"GET /api/x/{id} -> h", "PUT /api/x/{id} -> h", "ANY /y -> h"}


def test_chi_nests_routers_in_functions() -> None:
    found = served(
        "github.com/go-chi/chi/v5",
        """
        r.Get("/", h)
        r.Route("/api", func(r chi.Router) {
            r.Post("/x", h)
            r.Route("/y", func(s chi.Router) { s.Delete("/{id}", h) })
        })
        """,
    )
    assert found == {"GET / -> h", "POST /api/x -> h", "DELETE /api/y/{id} -> h"}


@pytest.mark.parametrize("framework", ["github.com/gin-gonic/gin", "github.com/labstack/echo/v4"])
def test_gin_and_echo_have_groups_and_colons(framework: str) -> None:
    found = served(framework, 'v1 := r.Group("/v1")\nv1.GET("/x/:id", h)\nv1.POST("/files/*path", h)')
    assert found == {"GET /v1/x/{id} -> h", "POST /v1/files/{path*} -> h"}


def test_a_get_that_is_no_route_serves_nothing() -> None:
    assert served("net/http", 'r.Get("/x", h)\ncache.Get("/y")\nr.GET(path, h)') == set()


def test_tests_benchmarks_and_examples_are_found_in_test_files_only() -> None:
    functions = ("TestAdd(t *testing.T)", "BenchmarkAdd(b *testing.B)", "Testify()", "help()")
    source = ("package a\n" + "\n".join(f"func {each} {{}}" for each in functions)).encode()
    in_test = GO.read("a/a_test.go", source)
    assert {each.name for each in in_test.definitions if each.traits & Trait.TEST} == {
        "TestAdd",
        "BenchmarkAdd",
    }
    assert not any(each.traits & Trait.TEST for each in GO.read("a/a.go", source).definitions)


def test_a_subtest_is_linked_to_what_it_exercises() -> None:
    lines = edges(
        {
            "a/a.go": "package a\nfunc Add() {}\nfunc Rest() {}",
            "a/a_test.go": 'package a\nfunc TestAdd(t *testing.T) { t.Run("sub", func(t *testing.T) { Add() }) }',
        },
        Relation.TESTS,
    )
    assert "a/a_test.go::TestAdd -tests-> a/a.go::Add resolved" in lines
    assert not [line for line in lines if "Rest" in line]
