"""All the code that sessions of a home may need, for a process that drives them all."""

from belayer.cli.desk import Desk
from belayer.cli.targets import code_named, known_names
from belayer.vocabulary.errors import BelayerError
from belayer.workflows.workflow import Workflow


def code_here(desk: Desk) -> list[Workflow]:
    """Whatever was run here before; what cannot be loaded any more is told, and its sessions wait."""
    found: list[Workflow] = []
    for name in known_names(desk.home):
        try:
            found += code_named(name, desk.home)
        except BelayerError as error:
            desk.screen.warn(f"The workflow {name} cannot be loaded, so its sessions wait: {error.detail}")
    return found
