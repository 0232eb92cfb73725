"""Bytes of a file as text, and text as lines."""

import io

from belayer.vocabulary.errors import NotAFile
from belayer.workspace.names import shown


def text_of(content: bytes, path: str) -> str:
    """The text of a file; NotAFile if it is none."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise NotAFile(
            f"{shown(path)} is not a text file (UTF-8).", "Only text can be read or edited."
        ) from error


def lines_of(text: str) -> list[str]:
    """The lines as editors number them: only a line feed ends one."""
    return list(io.StringIO(text))
