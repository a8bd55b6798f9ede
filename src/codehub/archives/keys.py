"""Which keys are legal: those that mean the same object in a directory, in S3 and in an URL.

The rules are narrower than S3's. A backslash, for one, becomes a slash in SeaweedFS, and control characters cannot be
sent in XML; an archive under such a key would be found by one store and lost by the next.
"""

from codehub.archives.errors import InvalidKey

KEY_BYTES = 1024  # the most that S3 allows, the store's own prefix included
SEGMENT_BYTES = 200  # a file name may have 255 bytes; the rest names the draft beside it
DRAFT_PREFIX = ".unfinished-"  # how the directory store marks what is still being written


def check_key(key: str) -> tuple[str, ...]:
    """The key's segments. Raises InvalidKey for whatever could not be stored, or could leave the store."""
    segments = tuple(key.split("/"))
    for segment in segments:
        if fault := _fault(segment):
            raise InvalidKey(f"The archive key {key!r} cannot be used: {fault}.")
    if len(key.encode()) > KEY_BYTES:
        raise InvalidKey(f"The archive key {key[:40]!r}... cannot be used: it has more than {KEY_BYTES} bytes.")
    return segments


def split_prefix(prefix: str) -> tuple[tuple[str, ...], str]:
    """The folders that a prefix names in full, and the beginning of a name that remains (often empty)."""
    folder, slash, beginning = prefix.rpartition("/")
    return (check_key(folder) if slash else ()), beginning


def is_legal(key: str) -> bool:
    """Whether a name found in a store could have been written through it. Anything else was put there by others."""
    try:
        check_key(key)
    except InvalidKey:
        return False
    return True


def _fault(segment: str) -> str:
    if segment in {"", ".", ".."}:
        return "it has an empty segment, '.' or '..'"
    if segment.startswith(DRAFT_PREFIX):
        return f"names that begin with {DRAFT_PREFIX!r} are reserved"
    if "\\" in segment or any(ord(character) < 32 or ord(character) == 127 for character in segment):
        return "it has a backslash or a control character"
    try:
        size = len(segment.encode())
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    return f"a segment has more than {SEGMENT_BYTES} bytes" if size > SEGMENT_BYTES else ""
