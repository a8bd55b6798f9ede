"""Which addresses are taken, and the one form they are kept in."""

from collections.abc import Callable

import pytest

from codehub.settings import addresses


def refused(check: Callable[[str], object], written: str) -> bool:
    try:
        check(written)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("postgresql://user:password@host:5432/name", "postgresql://user:password@host:5432/name"),
        ("postgres://host/name", "postgresql://host/name"),
        ("postgresql+asyncpg://host/name?ssl=require", "postgresql://host/name?ssl=require"),
        ("postgresql://user:pw@/name?host=%2Frun%2Fpostgres", "postgresql://user:pw@/name?host=%2Frun%2Fpostgres"),
        ("postgresql://[::1]:5432/name", "postgresql://[::1]:5432/name"),
    ],
)
def test_database_urls_are_kept_in_one_form(written: str, kept: str) -> None:
    assert addresses.database_url(written) == kept


@pytest.mark.parametrize(
    "written",
    [
        "",
        "host/name",
        "postgresql:/host/name",
        "postgresql://host",
        "postgresql:///name",
        "postgresql://host:port/name",
    ],
)
def test_a_database_url_names_host_and_database(written: str) -> None:
    assert refused(addresses.database_url, written)


@pytest.mark.parametrize(
    "written",
    ["redis://host", "redis://host:6379/", "rediss://user:pw@host/3", "unix:///run/redis.sock", "unix://:pw@/a?db=1"],
)
def test_redis_urls_are_kept_as_written(written: str) -> None:
    assert addresses.redis_url(written) == written


@pytest.mark.parametrize(
    "written", ["host:6379", "redis://", "redis://host/name", "redis://host:0", "unix://", "unix:///"]
)
def test_other_redis_urls_are_refused(written: str) -> None:
    assert refused(addresses.redis_url, written)


@pytest.mark.parametrize(
    "written", ["file:///var/lib/archives", "file:///with%20space", "s3://bucket", "s3://bucket/a/b"]
)
def test_archive_urls_are_kept_as_written(written: str) -> None:
    assert addresses.archive_url(written) == written


@pytest.mark.parametrize(
    "written", ["/var/lib", "file://relative", "file:relative", "s3://", "s3://k:s@bucket", "s3://b?x=1"]
)
def test_other_archive_urls_are_refused(written: str) -> None:
    assert refused(addresses.archive_url, written)


@pytest.mark.parametrize(
    ("written", "address"),
    [("127.0.0.1:8080", ("127.0.0.1", 8080)), ("[::1]:80", ("::1", 80)), ("localhost:0", ("localhost", 0))],
)
def test_an_address_to_listen_on_is_host_and_port(written: str, address: tuple[str, int]) -> None:
    assert addresses.split_listen(written) == address


@pytest.mark.parametrize(
    "written", ["", ":8080", "localhost", "localhost:", "http://localhost:80", "a@b:80", "localhost:80/x"]
)
def test_anything_else_is_no_address_to_listen_on(written: str) -> None:
    assert refused(addresses.split_listen, written)


@pytest.mark.parametrize("written", ["http://localhost:9000", "https://s3.example.org"])
def test_an_endpoint_is_a_server(written: str) -> None:
    assert addresses.http_url(f"{written}/") == written


@pytest.mark.parametrize("written", ["localhost:9000", "ftp://host", "http://", "http://host/path"])
def test_anything_else_is_no_endpoint(written: str) -> None:
    assert refused(addresses.http_url, written)


@pytest.mark.parametrize("written", ["", "10.0.0.7", "10.0.0.7, 192.0.2.0/24", "::1,fd00::/8"])
def test_proxies_are_addresses_and_networks(written: str) -> None:
    assert addresses.networks(written) == written


@pytest.mark.parametrize("written", ["proxy.test", "*", "10.0.0.7/24", "10.0.0"])
def test_anything_else_is_no_proxy(written: str) -> None:
    assert refused(addresses.networks, written)


@pytest.mark.parametrize("written", ["localhost", "dev.example.org", "Dev.Example.org", "dev.example.org."])
def test_domain_names_are_kept_in_lower_case(written: str) -> None:
    assert addresses.domain_name(written) == written.lower().rstrip(".")


@pytest.mark.parametrize(
    "written", ["", ".", "*.example.org", "a..b", "-a.org", "a_b.org", "127.0.0.1", "http://a.org"]
)
def test_other_domain_names_are_refused(written: str) -> None:
    assert refused(addresses.domain_name, written)
