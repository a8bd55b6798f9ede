"""How large the campaigns are: small in every run, large where CODEHUB_TEST_CAMPAIGN=1 asks for it."""

import os

LARGE = os.environ.get("CODEHUB_TEST_CAMPAIGN") == "1"


def size(*, small: int, large: int) -> int:
    return large if LARGE else small
