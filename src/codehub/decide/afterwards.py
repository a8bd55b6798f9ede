"""The phase that a row has once a decision is stored: every transition writes it in the same statement."""

from dataclasses import replace

from codehub.decide.judge import judge
from codehub.model.plans import Answer, Begin, Withdraw
from codehub.model.states import Operation, Phase
from codehub.model.workspace import Workspace


def phase_after(workspace: Workspace, decision: Begin | Withdraw | Answer, max_retries: int) -> Phase:
    """Judge the row as the transition leaves it: an operation taken or given back, an error forgiven, another home."""
    forgiven = replace(workspace, error_reason=None)
    match decision:
        case Begin():  # whatever was wrong, a row with an operation is not in ERROR (contract 4)
            return judge(replace(workspace, operation=decision.operation), max_retries)
        case Withdraw() if workspace.deleted_at is not None:  # only a look after this act tells what is left
            return Phase.DELETING
        case Withdraw():
            return judge(replace(forgiven, operation=Operation.NONE, op_step=None), max_retries)
        case Answer():
            homes = replace(forgiven, home_volume=decision.home_volume, archive_key=decision.archive_key)
            return judge(homes, max_retries)
