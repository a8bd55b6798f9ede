"""An act is recorded as later than all that was seen before it, also where the clock was set back in between."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from codehub import clock
from codehub.model.conditions import Conditions
from codehub.model.plans import GiveUp, Retry, Withdraw, Withdrawal
from codehub.model.states import Phase, Step
from codehub.model.workspace import Workspace
from codehub.store.protocols import ControllerStore, Observed, ObserverStore
from tests.contracts.store_backends import AHEAD, Backend
from tests.contracts.store_lives import BROKEN, provisioning

SEEN_AT = clock.now() + AHEAD + timedelta(hours=1)

RECORDS: dict[str, Callable[[ControllerStore, Workspace], Awaitable[object]]] = {
    "acted": lambda store, row: store.acted(row, Step.CREATE),
    "acted with others": lambda store, row: store.all_acted([row]),
    "withdrawn": lambda store, row: store.withdraw(row, Withdraw(Withdrawal.WISH_CHANGED), Phase.PENDING),
    "tried again": lambda store, row: store.retry(row, Retry(SEEN_AT, Step.CREATE, BROKEN)),
    "given up": lambda store, row: store.give_up(row, GiveUp(BROKEN, 1)),
    "thinned out": lambda store, row: store.thinned_out(row, []),
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
async def test_what_was_seen_before_an_act_is_earlier(
    backend: Backend,
    observer: ObserverStore,
    controller: ControllerStore,
    record: Callable[[ControllerStore, Workspace], Awaitable[object]],
) -> None:
    row = await provisioning(backend, controller)
    await observer.write_conditions([Observed(row.id, Conditions(), SEEN_AT)])
    await record(controller, row)
    acted_at = (await backend.row(row.id)).acted_at
    assert acted_at is not None
    assert acted_at > SEEN_AT
