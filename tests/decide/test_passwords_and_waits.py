"""Which passwords are good enough, and how long failed logins make the next one wait."""

from datetime import UTC, datetime, timedelta

import pytest

from codehub.decide import password as rules
from codehub.decide.login_wait import LONGEST, next_try_at
from codehub.decide.password import weakness

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("password", ["correct horse", "비밀번호는 길어야 좋습니다", "x8Qd-2f9K-aaaa", "a b c d e f g"])
def test_a_long_password_is_good(password: str) -> None:
    assert weakness(password, "ada") is None


@pytest.mark.parametrize(
    ("password", "word"),
    [
        ("short", "short"),
        ("elevenchars", "short"),
        ("aaaabbbbcccc", "simple"),
        ("x" * 257, "long"),
        ("I am ADA, hello", "login"),
    ],
)
def test_a_weak_password_is_told_why(password: str, word: str) -> None:
    assert word in (weakness(password, "ada") or "")


def test_a_login_of_two_letters_may_be_part_of_a_password() -> None:
    assert weakness("a long enough jo", "jo") is None


def test_the_first_failures_cost_no_wait() -> None:
    assert [next_try_at(failures, 10, NOW) for failures in range(10)] == [None] * 10


def test_then_the_wait_doubles_up_to_a_ceiling() -> None:
    waits = [(at - NOW).seconds for failures in range(10, 19) if (at := next_try_at(failures, 10, NOW))]
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert next_try_at(10**6, 10, NOW) == NOW + LONGEST


def test_without_a_failure_nobody_waits() -> None:
    assert next_try_at(0, 1, None) is None
    assert timedelta(minutes=15) > LONGEST


def test_the_longest_and_the_simplest_that_will_just_do() -> None:
    longest = ("abcde" * rules.LONGEST)[: rules.LONGEST]
    assert weakness(longest, "ada") is None
    assert "too long" in (weakness(longest + "a", "ada") or "")
    assert weakness("abcde" * rules.SHORTEST, "ada") is None
    assert "too simple" in (weakness("abcd" * rules.SHORTEST, "ada") or "")


def test_a_password_with_the_login_in_it_is_refused_in_these_words() -> None:
    assert weakness("long live ADA 1815", "ada") == "The password contains the login, which everybody knows."
