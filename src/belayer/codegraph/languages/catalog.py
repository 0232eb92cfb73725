"""The languages there are. A new one is a file beside this one and a line here."""

from belayer.codegraph.languages.csharp import CSHARP
from belayer.codegraph.languages.go import GO
from belayer.codegraph.languages.java import JAVA
from belayer.codegraph.languages.language import Language
from belayer.codegraph.languages.python import PYTHON
from belayer.codegraph.languages.typescript import TYPESCRIPT

LANGUAGES: tuple[Language, ...] = (PYTHON, TYPESCRIPT, JAVA, CSHARP, GO)

_BY_SUFFIX = {suffix: language for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {language.name: language for language in LANGUAGES}


def language_of(path: str) -> Language | None:
    """The language that a file is written in, by its suffix."""
    dot = path.rfind(".")
    return _BY_SUFFIX.get(path[dot:].lower()) if dot >= 0 else None


def language_named(name: str) -> Language | None:
    """The language of this name, as facts call it."""
    return _BY_NAME.get(name)
