"""The order of these tests, where several processes share them."""

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first: begun last, it would keep one process busy while the others have nothing left to do."""
    items.sort(key=lambda item: item.path.name != "test_walk.py")
