"""Legal keys stay inside the store and mean one thing."""

import os.path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codehub.archives.errors import InvalidKey
from codehub.archives.keys import check_key, is_legal, split_prefix

PIECES = st.sampled_from(["..", ".", "/", "\\", "\0", "a", "ü", " ", "%", "~", ".unfinished-"])


@given(st.lists(PIECES, max_size=8).map("".join) | st.text())
@example("a/../../b")
def test_a_legal_key_never_leaves_its_folder(key: str) -> None:
    if is_legal(key):
        assert os.path.normpath(f"/store/{key}") == f"/store/{key}"
        assert "/".join(check_key(key)) == key


@given(st.text())
def test_a_prefix_is_its_folders_and_the_beginning_of_a_name(prefix: str) -> None:
    try:
        folders, beginning = split_prefix(prefix)
    except InvalidKey:
        return
    assert "".join(f"{folder}/" for folder in folders) + beginning == prefix


def test_a_refusal_says_which_key_and_why() -> None:
    with pytest.raises(InvalidKey, match=r"'a/\.\./b' cannot be used: it has an empty segment"):
        check_key("a/../b")
