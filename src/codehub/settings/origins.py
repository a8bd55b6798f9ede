"""The origins that the settings name."""

from urllib.parse import urlsplit

from codehub.decide.origins import Origins
from codehub.errors import ConfigurationError
from codehub.settings.addresses import is_address, is_loopback
from codehub.settings.groups import CodehubConfig
from codehub.settings.proxy_groups import ProxyConfig

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (recognised, not bound)


def origins(codehub: CodehubConfig, proxy: ProxyConfig) -> Origins:
    return Origins(codehub.public_url or _listened(codehub), proxy.domain, proxy.origin)


def refuse_shared_host(codehub: CodehubConfig, proxy: ProxyConfig) -> None:
    """Cookies ignore ports: on one host, the pages of workspaces would have the cookies of the API in their reach."""
    if proxy.origin is None:
        return
    host = urlsplit(proxy.origin).hostname or ""
    if host in {"localhost", urlsplit(codehub.public_url or "").hostname} or is_address(host):
        raise ConfigurationError(
            f"PROXY_ORIGIN is {proxy.origin}, a host that codehub itself answers on.",
            "Give workspaces a host name of their own.",
        )


def refuse_tls_without_address(codehub: CodehubConfig, proxy: ProxyConfig) -> None:
    """Cookies are for https only where the public address says so."""
    if proxy.certificate is not None and not (codehub.public_url or "").startswith("https:"):
        raise ConfigurationError(
            "PROXY_CERTIFICATE is set, but CODEHUB_PUBLIC_URL is no https address.",
            "Set CODEHUB_PUBLIC_URL to where people reach codehub.",
        )


def is_open_without_tls(codehub: CodehubConfig, proxy: ProxyConfig) -> bool:
    """Whether others than this machine reach codehub in clear. Where people are told an https address, a proxy in front
    has the certificate."""
    host, _ = codehub.listen_address
    has_tls = proxy.certificate is not None or (codehub.public_url or "").startswith("https:")
    return not (has_tls or is_loopback(host))


def refuse_open_without_tls(codehub: CodehubConfig, proxy: ProxyConfig) -> None:
    """Passwords and everybody's files would be read on the way, and nobody would have decided that."""
    if is_open_without_tls(codehub, proxy) and not codehub.insecure:
        raise ConfigurationError(
            f"CODEHUB_LISTEN is {codehub.listen}, where others reach codehub, and there is no TLS.",
            "Give it a certificate (--cert and --key, or PROXY_CERTIFICATE and PROXY_KEY), set CODEHUB_PUBLIC_URL to "
            "the https address of a proxy in front, or accept it with --insecure or CODEHUB_INSECURE=true.",
        )


def _listened(codehub: CodehubConfig) -> str:
    host, port = codehub.listen_address
    host = ANYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
