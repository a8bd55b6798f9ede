"""The origins that the settings name."""

from urllib.parse import urlsplit

from codehub.decide.origins import Origins
from codehub.errors import ConfigurationError
from codehub.settings.addresses import is_address
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


def _listened(codehub: CodehubConfig) -> str:
    host, port = codehub.listen_address
    host = ANYWHERE.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
