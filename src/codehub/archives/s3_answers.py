"""Read what an S3 store says, strictly: an answer that lacks something is an error, never an empty list."""

from datetime import datetime
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from codehub.archives.errors import StoreLied
from codehub.archives.object_store import ObjectInfo, UnfinishedUpload


def parse_page(answer: bytes, kind: str) -> Element:
    """A page of the listing that was asked for. A proxy's or console's web page, sent with status 200, is none."""
    page = _parse(answer)
    if page is None or page.tag.rpartition("}")[2] != kind:
        raise StoreLied(
            "The archive store does not answer as S3 does.", "Does ARCHIVE_S3_ENDPOINT name its S3 address?"
        )
    return page


def parse_object(element: Element) -> ObjectInfo:
    etag = element.findtext("{*}ETag", default="")
    return ObjectInfo(text(element, "Key"), _number(element, "Size"), etag, _time(element, "LastModified"))


def parse_upload(element: Element) -> UnfinishedUpload:
    return UnfinishedUpload(text(element, "Key"), text(element, "UploadId"), _time(element, "Initiated"))


def error_code(answer: bytes) -> str:
    """The error code of an answer, such as NoSuchBucket; empty if it has none."""
    page = _parse(answer)
    return "" if page is None else page.findtext("{*}Code", default="")


def text(element: Element, name: str) -> str:
    found = element.findtext(f"{{*}}{name}")
    if found is None:
        raise StoreLied(f"The archive store's listing lacks {name}.")
    return found


def _number(element: Element, name: str) -> int:
    try:
        return int(text(element, name))
    except ValueError as error:
        raise StoreLied(f"The archive store's listing has no number as {name}.") from error


def _time(element: Element, name: str) -> datetime:
    try:
        return datetime.fromisoformat(text(element, name))
    except ValueError as error:
        raise StoreLied(f"The archive store's listing has no time as {name}.") from error


def _parse(answer: bytes) -> Element | None:
    try:
        return ElementTree.fromstring(answer)  # noqa: S314  # from the operator's own store, of bounded size
    except ElementTree.ParseError:
        return None
