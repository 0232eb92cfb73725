"""A person's rules, kept in one file of the home.

Rules count only in the folder in which they were saved: a file that came along with a cloned repository or a copy is
not the word of the person who runs Belayer here, so it is ignored until that person saves it again.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from belayer.vocabulary.errors import NotReady
from belayer.vocabulary.events.event import Shape
from belayer.vocabulary.rules import Rule


class _Page(Shape):
    """What the file holds: the rules, and the folder (its inode) they were saved in."""

    saved_in: int
    rules: tuple[Rule, ...]


_PAGE = TypeAdapter(_Page)


class Rulebook:
    """The rules for all sessions of a home; without a folder, for as long as it lives."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._kept: tuple[Rule, ...] = ()

    @property
    def path(self) -> Path | None:
        return self._folder and self._folder / "policy.json"

    def rules(self) -> tuple[Rule, ...]:
        """The rules in force."""
        page = self._read()
        return () if page is None or self._is_foreign(page) else page.rules

    def foreign(self) -> tuple[Rule, ...]:
        """Rules that lie here and do not count, because they were saved elsewhere."""
        page = self._read()
        return page.rules if page is not None and self._is_foreign(page) else ()

    def save(self, rules: Sequence[Rule]) -> None:
        """Have these rules and no others."""
        self._kept = tuple(rules)
        if self._folder is None or self.path is None:
            return
        try:
            self._write(self._folder, self.path)
        except OSError as error:
            raise NotReady(
                f"The rules cannot be saved in {self.path} ({error.strerror}); those that were there still hold.",
                "Make the folder writable, then save them again.",
            ) from error

    def _write(self, folder: Path, path: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        page = _Page(saved_in=folder.stat().st_ino, rules=self._kept)
        aside = path.with_suffix(".new")
        shape = page.model_dump(mode="json", exclude_none=True)
        aside.write_text(json.dumps(shape, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        aside.replace(path)

    def _is_foreign(self, page: _Page) -> bool:
        return self._folder is not None and page.saved_in != self._folder.stat().st_ino

    def _read(self) -> _Page | None:
        if self._folder is None or self.path is None:
            return _Page(saved_in=0, rules=self._kept)
        try:
            return _PAGE.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise NotReady(
                f"The rules in {self.path} cannot be read, so nothing is run by them: {error}",
                "Correct the file, or remove it and write the rules again with `belayer policy`.",
            ) from error
