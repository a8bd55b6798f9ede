"""How a job can fail, by what is to be done about it. Foreign errors are mapped to these where they arrive."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a job exits with: all that whoever started it needs to know what to do next (docs/archive-format.md)."""

    DONE = 0
    FAILED = 1
    NO_SPACE = 28
    BAD_ORDER = 64
    CORRUPT = 65
    MISSING = 66
    TRY_AGAIN = 75


class JobFault(Exception):
    """A lasting fault: the same order would fail again, and a person has to look. Nothing was committed."""

    exit_code = ExitCode.FAILED


class NoSpace(JobFault):
    """There is no room, in bytes or in files."""

    exit_code = ExitCode.NO_SPACE


class BadOrder(JobFault):
    """The order cannot be read or asks for what this program does not know."""

    exit_code = ExitCode.BAD_ORDER


class Corrupt(JobFault):
    """The archive is not what its marker says, or holds what no archive of a home may hold. It is left as it is."""

    exit_code = ExitCode.CORRUPT


class Missing(JobFault):
    """There is no archive, or none that was ever finished."""

    exit_code = ExitCode.MISSING


class TryAgain(JobFault):
    """A passing fault: a store that does not answer, a program that was killed, a home that changed meanwhile."""

    exit_code = ExitCode.TRY_AGAIN
