"""What a language has to say: how to read a file, and where its names lead. Everything else is the same for all."""

from collections.abc import Iterable, Mapping
from typing import Protocol

from belayer.codegraph.facts import Facts


class Project(Protocol):
    """The other files, as far as names lead there. Whoever asks is re-linked when an answer changes."""

    def has(self, path: str) -> bool:
        """Whether the repository has this source file (a path from its root, with `/`)."""
        ...

    def folder(self, path: str) -> bool:
        """Whether there is a source file of this language anywhere below the folder."""
        ...

    def in_package(self, package: str) -> tuple[str, ...]:
        """The files that declare this package or namespace, sorted."""
        ...

    def manifest(self, name: str) -> Mapping[str, str]:
        """The text of every manifest of this name (`go.mod`, `tsconfig*.json`), by path."""
        ...


class Language(Protocol):
    """One language."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    @property
    def manifests(self) -> tuple[str, ...]:
        """The names of its manifests; a star is a wildcard (`tsconfig*.json`)."""
        ...

    @property
    def names_see_members(self) -> bool:
        """Whether a bare name in a class also means a member of it (Java, C#)."""
        ...

    def read(self, path: str, source: bytes) -> Facts:
        """The facts of a file. Never raises: what cannot be parsed is left out and the facts say `is_broken`."""
        ...

    def module_name(self, path: str, project: Project) -> str:
        """What people call the module: `shop.cart` for src/shop/cart.py."""
        ...

    def imported(self, spec: str, importer: str, project: Project) -> tuple[str, ...]:
        """The files that an import of `spec` in `importer` leads to, best first; none if it leads outside.

        A language whose imports name packages gives all files of the package. A package without a file of its own is
        given as its folder, with a slash at the end.
        """
        ...

    def visible(self, facts: Facts, project: Project) -> Iterable[str]:
        """The other files whose top-level names are known in this one without an import (same package, namespace,
        `using`, java.lang aside), nearest first."""
        ...
