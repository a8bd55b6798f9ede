"""Mutated bytes: no crash, nothing left behind, and nothing reaches anybody it does not belong to.

A part of `tests.proxy.campaign` with other seeds each time would be no test: these are the same ones always."""

import pytest

from tests.proxy import campaign


@pytest.mark.timeout(300)
async def test_mutated_requests_do_no_harm() -> None:
    await campaign.mutate_requests(12_000, seed=1)


@pytest.mark.timeout(300)
async def test_mutated_answers_reach_only_those_who_asked() -> None:
    await campaign.mutate_answers(6_000, seed=1)


@pytest.mark.timeout(300)
async def test_mutated_frames_pass_unchanged() -> None:
    await campaign.mutate_frames(2_000, seed=1)
