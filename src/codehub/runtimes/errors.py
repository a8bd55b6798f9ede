"""What can go wrong with a runtime, by who can act on it. Engines' own errors are mapped to these at the edge."""


class RuntimeFault(Exception):
    """The base of all of them: an attempt failed, for this workspace, and another may succeed."""


class RuntimeAway(RuntimeFault):
    """Nobody answers: a fault of everyone, not of one workspace."""


class ImageUnavailable(RuntimeFault):
    """The image cannot be had: it does not exist, or may not be used. No further attempt mends that."""


class RegistryAway(RuntimeFault):
    """The place that images come from does not answer. The image may well exist."""


class InUse(RuntimeFault):
    """A volume that a container still holds."""


class NoJobs(RuntimeFault):
    """What jobs run in is not there (yet): nobody's home can be moved."""


class Removed(RuntimeFault):
    """A job that somebody else removed while it was begun or followed: one of two acted late."""


class NotFound(RuntimeFault):
    """An instance or volume that is not there (any more)."""
