"""What the controller writes of many rows in one statement. Each writes only to rows that are still in the attempt that
was decided on; those that have moved on are left alone."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Boolean, Integer, TextClause, Uuid, bindparam, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.types import Text, TypeEngine

from codehub.decide.steps import AFTER_ACTION
from codehub.model.states import Step
from codehub.model.workspace import Workspace
from codehub.store.protocols import Judged
from codehub.store.tables import workspaces

Values = dict[str, list[Any]]


def _of_arrays(statement: str, **more: TypeEngine[Any]) -> TextClause:
    """Of the attempts of many rows, and what else is to be known of each."""
    of_each: dict[str, TypeEngine[Any]] = {
        "ids": Uuid(),
        "op_ids": Uuid(),
        "steps": Text(),
        "attempts": Integer(),
        **more,
    }
    return text(statement).bindparams(*(bindparam(name, type_=ARRAY(kind)) for name, kind in of_each.items()))


_MOMENT = workspaces.c.observed_at.type

# What serves after all, by its death having been none, waits for no start.
JUDGED = _of_arrays(
    """
    WITH changed AS (
        UPDATE workspaces
        SET phase = judged.after,
            phase_changed_at = CASE WHEN judged.after <> judged.before THEN clock_timestamp() ELSE phase_changed_at END,
            next_attempt_at = CASE WHEN judged.after = 'RUNNING' AND operation = 'NONE' THEN NULL
                              ELSE next_attempt_at END,
            judged_at = judged.observed_at
        FROM unnest(:ids, :op_ids, :steps, :attempts, :before, :after, :observed)
             AS judged (id, op_id, step, attempt, before, after, observed_at)
        WHERE workspaces.id = judged.id
          AND workspaces.phase = judged.before
          AND workspaces.op_id IS NOT DISTINCT FROM judged.op_id
          AND workspaces.op_step IS NOT DISTINCT FROM judged.step
          AND workspaces.op_attempt = judged.attempt
        RETURNING workspaces.id, judged.before, judged.after
    ), told AS (
        INSERT INTO workspace_events (workspace_id, kind, before, after)
        SELECT id, 'phase', before, after FROM changed WHERE before <> after
    )
    SELECT count(*) FROM changed
    """,
    before=Text(),
    after=Text(),
    observed=_MOMENT,
)

BEGUN = _of_arrays("""
    UPDATE workspaces SET op_clock_at = clock_timestamp()
    FROM unnest(:ids, :op_ids, :steps, :attempts) AS begun (id, op_id, step, attempt)
    WHERE workspaces.id = begun.id
      AND workspaces.op_id = begun.op_id
      AND workspaces.op_step = begun.step
      AND workspaces.op_attempt = begun.attempt
""")

ALL_ACTED = _of_arrays(
    """
    UPDATE workspaces
    SET op_step = acted.after,
        op_clock_at = CASE WHEN acted.is_pull THEN clock_timestamp() ELSE op_clock_at END,
        acted_at = CASE WHEN acted.is_pull THEN acted_at
                        ELSE greatest(clock_timestamp(), workspaces.observed_at + interval '1 microsecond') END,
        judged_at = acted.observed_at
    FROM unnest(:ids, :op_ids, :steps, :attempts, :after, :pulls, :phases, :observed)
         AS acted (id, op_id, step, attempt, after, is_pull, phase, observed_at)
    WHERE workspaces.id = acted.id
      AND workspaces.op_id = acted.op_id
      AND workspaces.op_step = acted.step
      AND workspaces.op_attempt = acted.attempt
      AND workspaces.phase = acted.phase
    """,
    after=Text(),
    pulls=Boolean(),
    phases=Text(),
    observed=_MOMENT,
)


def judged(batch: Sequence[Judged]) -> Values:
    rows = [each.workspace for each in batch]
    return {
        **attempts(rows),
        "before": [row.phase for row in rows],
        "after": [each.phase for each in batch],
        "observed": [each.judged_at for each in batch],
    }


def acted(rows: Sequence[Workspace]) -> Values:
    """Of rows whose present step is one that acts."""
    steps = [row.op_step for row in rows if row.op_step is not None]
    return {
        **attempts(rows),
        "after": [AFTER_ACTION[step] for step in steps],
        "pulls": [step is Step.PULL for step in steps],
        "phases": [row.phase for row in rows],
        "observed": [row.observed_at for row in rows],
    }


def attempts(rows: Sequence[Workspace]) -> Values:
    """What tells an attempt from every other."""
    return {
        "ids": [row.id for row in rows],
        "op_ids": [row.op_id for row in rows],
        "steps": [row.op_step for row in rows],
        "attempts": [row.op_attempt for row in rows],
    }
