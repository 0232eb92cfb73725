"""Which browser this machine has, and what is missing if it has none."""

import os
from pathlib import Path

from belayer.vocabulary.errors import ConfigurationError

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium(not_in: Path | None = None) -> Path:
    """The browser of this machine: from a folder of PATH that is not the workspace's, where anybody could put one."""
    for name in _NAMES:
        for folder in map(Path, os.get_exec_path()):
            found = folder / name
            if folder.is_absolute() and os.access(found, os.X_OK) and _is_outside(found, not_in):
                return found
    raise ConfigurationError(
        "There is no Chromium on this machine, so no page can be opened.",
        "Install it, for example with: apt-get install chromium",
    )


def _is_outside(found: Path, folder: Path | None) -> bool:
    return found.is_file() and (folder is None or not found.resolve().is_relative_to(folder.resolve()))
