"""Endpoints and tests of Java, and what only looks like them."""

from belayer.codegraph.facts import Trait
from belayer.codegraph.graph import Relation
from belayer.codegraph.languages.java import JAVA
from tests.codegraph.graphs import edges


def served(source: str) -> set[str]:
    """The endpoints with their handlers, as `GET /x -> A.f`."""
    lines = (line.partition(" -serves-> ") for line in edges({"A.java": source}, Relation.SERVES))
    return {
        f"{left.partition('::')[2]} -> {right.rpartition(' ')[0].partition('::')[2]}"
        for left, _, right in lines
    }


def marked(source: str) -> set[str]:
    facts = JAVA.read("src/test/java/A.java", source.encode())
    return {each.name for each in facts.definitions if each.traits & Trait.TEST}


def test_spring_joins_the_path_of_the_class_and_of_the_method() -> None:
    found = served(
        """
        @RestController @RequestMapping("/api/carts")
        class A {
            @GetMapping("/{id:[0-9]+}") void one() {}
            @PostMapping void add() {}
            @RequestMapping(path = "/all", method = {RequestMethod.GET, RequestMethod.HEAD}) void all() {}
            @DeleteMapping({"/x", "/y/"}) void two() {}
            @RequestMapping("/any") void any() {}
            void helper() {}
        }
        """
    )
    assert found == {
        "GET /api/carts/{id} -> A.one",
        "POST /api/carts -> A.add",
        "GET /api/carts/all -> A.all",
        "HEAD /api/carts/all -> A.all",
        "DELETE /api/carts/x -> A.two",
        "DELETE /api/carts/y -> A.two",
        "ANY /api/carts/any -> A.any",
    }


def test_a_constant_of_the_file_is_put_into_a_path() -> None:
    found = served(
        """
        @RestController @RequestMapping(A.ROOT)
        class A { static final String ROOT = "/root"; @GetMapping(value = ROOT + "/x") void f() {} }
        """
    )
    assert found == {"GET /root/root/x -> A.f"}


def test_jax_rs_takes_the_verb_and_the_path_apart() -> None:
    found = served(
        '@Path("/carts") class A { @GET @Path("{id}") void one() {} @POST void add() {} @Path("/sub") void no() {} }'
    )
    assert found == {"GET /carts/{id} -> A.one", "POST /carts -> A.add"}


def test_an_annotation_of_another_kind_serves_nothing() -> None:
    assert served('class A { @Deprecated @Cacheable("/x") void f() {} }') == set()


def test_tests_of_junit_and_testng_are_found() -> None:
    assert marked(
        "class A { @Test void a() {} @ParameterizedTest void b() {} @BeforeEach void c() {} void d() {} }"
    ) == {"a", "b"}
    assert marked(
        "class A extends TestCase { public void testA() {} void testB() {} public void help() {} }"
    ) == {"testA"}
    assert marked(
        "@Test public class A { public void a() {} void helper() {} public static void b() {} }"
    ) == {"a"}


def test_a_test_is_linked_to_what_it_exercises() -> None:
    lines = edges(
        {
            "src/main/java/B.java": "class B { void go() {} void rest() {} }",
            "src/test/java/BTest.java": "class BTest { @Test void goes() { new B().go(); } }",
        },
        Relation.TESTS,
    )
    assert "src/test/java/BTest.java::BTest.goes -tests-> src/main/java/B.java::B.go resolved" in lines
    assert not [line for line in lines if "B.rest" in line]
