"""What can go wrong with an archive store, by who can act on it.

Foreign errors are mapped to these once, in each store.
"""

from codehub.errors import ExitCode, ServiceError


class StoreError(ServiceError):
    """The archive store did not do what was asked."""


class StoreUnreachable(StoreError):
    """A passing fault; try again later.

    No connection, no answer in time, a server error, a folder that is not mounted.
    """


class StoreRefused(StoreError):
    """A lasting fault: a person has to act, and trying again does not help.

    Wrong credentials, a missing bucket, no permission.
    """


class StoreFull(StoreError):
    """The store has no room for this object. Nothing of it is visible."""

    exit_code = ExitCode.DISK_FULL


class StoreLied(StoreError):
    """The store said one thing and showed another, such as an object of another size than was sent. Believe neither."""


class ObjectNotFound(StoreError):
    """There is no object of this key.

    Only said of a store that answers: a lost connection never looks like a lost home.
    """


class AlreadyExists(StoreError):
    """A create-only write found an object of this key; it is unchanged.

    It may be one's own: when the answer to a first attempt is lost, the second one finds the object of the first.
    Compare the content before concluding that somebody else was faster.
    """


class UploadBroken(StoreError):
    """The upload cannot be completed any more: a write failed or was cut short, or somebody discarded the upload."""


class ObjectTooLarge(StoreError):
    """The object is larger than its reader was ready to hold in memory."""


class InvalidRange(StoreError):
    """The range begins after the object's last byte, or is no range at all."""


class InvalidKey(StoreError):
    """The key could not mean the same in every store, or could leave the store."""
