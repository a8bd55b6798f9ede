"""Names for the shell to complete. It asks while somebody types: quickly, and in silence where it cannot."""


def workspace_names(incomplete: str) -> list[str]:
    return _names("/workspaces", incomplete, limit=200)


def template_names(incomplete: str) -> list[str]:
    return _names("/templates", incomplete)


def context_names(incomplete: str) -> list[str]:
    from codehub.cli import contexts
    from codehub.errors import CodehubError

    try:
        return [each.name for each in contexts.read().contexts if each.name.startswith(incomplete)]
    except CodehubError:
        return []


def _names(path: str, incomplete: str, **params: int) -> list[str]:
    """Those on the first page. Any fault is silence: a message would land in the middle of what is being typed."""
    from codehub.cli import contexts
    from codehub.cli.server import Server
    from codehub.errors import CodehubError

    try:
        items = Server.of(contexts.choose(""), quick=True).get(path, **params)["items"]
    except CodehubError:
        return []
    return [each["name"] for each in items if each["name"].startswith(incomplete)]
