"""What becomes of the repository that a workspace was made with."""

from enum import StrEnum


class Outcome(StrEnum):
    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
