"""The part of google-re2 that we use; the package comes without types."""

class error(Exception): ...  # noqa: N801

class Pattern:
    def search(self, text: str) -> object | None: ...

def compile(pattern: str) -> Pattern: ...  # noqa: A001
def escape(pattern: str) -> str: ...
