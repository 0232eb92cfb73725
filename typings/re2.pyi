"""The part of google-re2 that we use; the package comes without types."""

class error(Exception):  # noqa: N801
    args: tuple[bytes]

class Options:
    log_errors: bool
    literal: bool
    dot_nl: bool

class Pattern:
    def search(self, text: str) -> object | None: ...
    def fullmatch(self, text: str) -> object | None: ...

def compile(pattern: str, options: Options = ...) -> Pattern: ...  # noqa: A001
def escape(pattern: str) -> str: ...
