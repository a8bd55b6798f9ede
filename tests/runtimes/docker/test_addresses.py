"""No address is given to anyone within an hour of another having had it, restarts included."""

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address, IPv4Network

from hypothesis import given
from hypothesis import strategies as st

from codehub.runtimes.docker.addresses import RESERVED, ROUND_SECONDS, Addresses

SUBNET = IPv4Network("10.100.0.0/16")
SMALL = IPv4Network("10.100.0.0/26")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@given(pauses=st.lists(st.floats(0, 2000), min_size=2, max_size=200), kept=st.integers(0, 3))
def test_nobody_gets_what_another_had_within_the_hour(pauses: list[float], kept: int) -> None:
    addresses = Addresses(SMALL)
    now = NOON
    had: dict[str, datetime] = {}
    held: list[str] = []
    for pause in pauses:
        now += timedelta(seconds=pause)
        address = addresses.take(now)
        if address is None:
            continue
        assert address not in held
        assert IPv4Address(address) in SMALL
        assert address not in had or now - had[address] >= timedelta(seconds=ROUND_SECONDS)
        had[address] = now
        held.append(address)
        addresses.hold(address)
        if len(held) > kept:
            freed = held.pop(0)
            addresses.release(freed, now)
            had[freed] = now


@given(seconds=st.floats(1, ROUND_SECONDS - 1))
def test_a_restart_forgets_nothing_that_matters(seconds: float) -> None:
    before = Addresses(SUBNET).take(NOON)
    assert Addresses(SUBNET).take(NOON + timedelta(seconds=seconds)) != before


def test_every_address_but_the_reserved_ones_can_be_given() -> None:
    addresses = Addresses(SMALL)
    given_out = [addresses.take(NOON) for _ in range(SMALL.num_addresses - RESERVED - 1)]
    assert len(set(given_out)) == len(given_out)
    assert not {str(SMALL[place]) for place in (*range(RESERVED), -1)} & set(given_out)
    assert addresses.take(NOON) is None
    assert addresses.take(NOON + timedelta(seconds=ROUND_SECONDS)) is not None


def test_one_that_is_held_is_passed_over_however_old() -> None:
    first = Addresses(SUBNET).take(NOON)
    addresses = Addresses(SUBNET)
    addresses.hold(str(first))
    assert addresses.take(NOON) != first
