"""Plans as a workflow: started with a plan and its inputs, refused before anything runs if it cannot work."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from belayer.execution.run import Run
from belayer.sessions.history import History
from belayer.tools.toolbox import Toolbox
from belayer.vocabulary.clock import Clock
from belayer.vocabulary.events.event import Json
from belayer.workflows.plan.check import check
from belayer.workflows.plan.forecast import Forecast
from belayer.workflows.plan.walk import Walk
from belayer.workflows.workflow import Workflow
from belayer.workspace.workspace import Workspaces

NAME = "plan"


@dataclass(frozen=True, slots=True)
class Plans:
    """What it takes to carry out plans."""

    tools: Toolbox
    workspaces: Workspaces
    history: History
    clock: Clock

    def workflow(self) -> Workflow:
        return Workflow(NAME, self.carry_out, check=self.refuse_unfit, in_workspace=True)

    async def carry_out(self, run: Run, plan: dict[str, Json], inputs: dict[str, Json] | None = None) -> Json:
        """Carry out a plan in the session's workspace."""
        assert run.workspace is not None
        checked = check(plan, self.tools, inputs or {})
        workspace = self.workspaces.of(Path(run.workspace))
        forecast = Forecast(checked, self.tools, self.history, self.clock)
        return await Walk(run, checked, self.tools, workspace, forecast).go()

    def refuse_unfit(self, arguments: Mapping[str, Json]) -> None:
        """Raise UnfitPlan with everything that is wrong."""
        inputs = arguments.get("inputs")
        check(arguments["plan"], self.tools, inputs if isinstance(inputs, dict) else {})
