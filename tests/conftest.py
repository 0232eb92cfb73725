"""Every run of the suite tries the same examples: what was green stays green until the code changes.

`make test ARGS=--hypothesis-profile=exploring` looks for new ones.
"""

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("exploring", deadline=None, print_blob=True)
settings.load_profile("steady")
