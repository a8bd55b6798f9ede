"""Which bytes a range means, and what is no range."""

import pytest

from codehub.web.ranges import NotThere, Span, span_of


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-", Span(0, 10)),
        ("bytes=4-", Span(4, 10)),
        ("bytes=9-", Span(9, 10)),
        ("bytes=2-4", Span(2, 5)),
        ("bytes=2-2", Span(2, 3)),
        ("bytes=2-99", Span(2, 10)),
        ("bytes = 2 - 4", Span(2, 5)),
        ("bytes=-3", Span(7, 10)),
        ("bytes=-99", Span(0, 10)),
        ("bytes=-", None),
        ("bytes=4-2", None),
        ("bytes=0-1,4-5", None),
        ("bytes=x-", None),
        ("lines=0-1", None),
        ("bytes=٣-", None),
        ("bytes=9999999999999999999-", None),
        ("", None),
    ],
)
def test_a_range_is_read_and_what_is_none_is_ignored(header: str, span: Span | None) -> None:
    assert span_of(header, 10) == span


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=10-11", "bytes=-0"])
def test_a_range_without_a_byte_is_told(header: str) -> None:
    with pytest.raises(NotThere):
        span_of(header, 10)


def test_a_span_tells_where_it_stands() -> None:
    assert (Span(2, 5).length, Span(2, 5).of(10)) == (3, "bytes 2-4/10")
