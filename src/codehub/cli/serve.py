"""`codehub serve`: answer requests, in this process (`--roles`) or in children that are kept alive."""

import asyncio
import os
import signal
import socket
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from codehub.errors import ConfigurationError, ServiceError

if TYPE_CHECKING:
    from codehub.settings import Settings
    from codehub.web.app import Dependencies

ROLES = ("api", "coordinators", "proxy")


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(
    roles: Annotated[str, typer.Option(help=f"What this process does, separated by commas: {', '.join(ROLES)}.")] = "",
    fd: Annotated[int | None, typer.Option(help="A listening socket that the parent process passes on.", min=0)] = None,
    listen: Annotated[str, typer.Option(help="The address to listen on (default: CODEHUB_LISTEN).")] = "",
    own_socket: Annotated[
        Path | None, typer.Option(help="A unix socket to be made on which this process alone answers.")
    ] = None,
    behind_front_door: Annotated[
        bool, typer.Option("--behind-front-door", help="Answer on the own socket only, for the role proxy.")
    ] = False,
    api_sockets: Annotated[
        Path | None, typer.Option(help="For the role proxy: the folder with the own sockets of the role api.")
    ] = None,
) -> None:
    """Answer requests until asked to end, then finish those under way. For services that are run elsewhere.

    SIGTERM lets connections that are idle bring one more request; SIGINT does not wait for them.

    Without roles it keeps all of them running as children: the front door on the address, the others behind it.

    Example: codehub serve --listen 127.0.0.1:9000
    """
    from codehub.archives.open import ensure_bucket
    from codehub.settings import Settings
    from codehub.stack.public import require_certificate
    from codehub.telemetry import logs

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have started us with it ignored
    wanted = _known(roles)
    if listen:
        _require_address(listen)
    settings = Settings.load({**os.environ, "CODEHUB_LISTEN": listen} if listen else None)
    logs.configure(settings.codehub.log_level, settings.codehub.log_format)
    require_certificate(settings.proxy)
    listener = None
    if not behind_front_door:
        listener = _inherited(fd) if fd is not None else _own(settings)
    elif own_socket is None:
        raise typer.BadParameter("Say which one, with --own-socket.", param_hint="--behind-front-door")
    dependencies = _dependencies(settings)
    asyncio.run(refuse_what_waiting_will_not_mend(dependencies))
    if wanted and settings.archive.url is None:
        asyncio.run(ensure_bucket(settings.archive_url))
    if "proxy" in wanted:
        _open_door(settings, dependencies, listener, own_socket, api_sockets)
    elif wanted:
        _answer(settings, dependencies, listener, own_socket, coordinates="coordinators" in wanted)
    elif listener is not None:
        from codehub.cli.keep_serving import keep_serving

        keep_serving(settings, listener)


def _known(roles: str) -> set[str]:
    wanted = {role.strip() for role in roles.split(",")} if roles else set()
    for role in sorted(wanted - set(ROLES)):
        raise typer.BadParameter(f"{role!r} is no role; there is: {', '.join(ROLES)}.", param_hint="--roles")
    if "proxy" in wanted and len(wanted) > 1:
        raise typer.BadParameter("proxy needs a process of its own: nothing may delay visitors.", param_hint="--roles")
    return wanted


def _dependencies(settings: "Settings") -> "Dependencies":
    """The services that the settings name. The embedded ones only `codehub up` knows, which tells its children."""
    from codehub.archives.open import open_store
    from codehub.web.app import Dependencies

    if settings.database.url is None or settings.redis.url is None:
        missing = "REDIS_URL" if settings.database.url else "DATABASE_URL"
        raise ConfigurationError(f"{missing} is not set.", "Set it, or start everything with: codehub up")
    secret = settings.archive.s3_secret_access_key
    store = open_store(
        settings.archive_url,
        s3_endpoint=settings.archive.s3_endpoint,
        s3_region=settings.archive.s3_region,
        s3_access_key_id=settings.archive.s3_access_key_id,
        s3_secret_access_key=secret.get_secret_value() if secret else None,
    )
    return Dependencies(settings.database.url, settings.redis.url, store)


async def refuse_what_waiting_will_not_mend(dependencies: "Dependencies") -> None:
    """Raise ServiceError for a database or Redis that a person has to see to: too old, of another schema, wrong login.

    One that is merely away is no reason: `/readyz` says so until it is back.
    """
    from codehub.telemetry.health import check_database, check_redis

    database, redis = await asyncio.gather(
        check_database(dependencies.database_url), check_redis(dependencies.redis_url)
    )
    for called, check in (("The database", database), ("Redis", redis)):
        if check.lasting:
            raise ServiceError(f"{called} {check.detail}.", check.remedy)


def _inherited(fd: int) -> socket.socket:
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            listener = socket.socket(fileno=fd)
            if listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                return listener
            listener.detach()
    except OSError as error:
        raise typer.BadParameter(f"{fd} is not open: {error.strerror}.", param_hint="--fd") from error
    raise typer.BadParameter(f"{fd} is not a listening socket.", param_hint="--fd")


def _require_address(address: str) -> None:
    from codehub.settings.addresses import split_listen

    try:
        split_listen(address)
    except ValueError:
        raise typer.BadParameter(f"{address!r} is not of the form host:port.", param_hint="--listen") from None


def _own(settings: "Settings") -> socket.socket:
    from codehub.cli.public_address import warn_without_tls
    from codehub.stack.public import listen

    warn_without_tls(settings)
    return listen(*settings.codehub.listen_address)


def _open_door(
    settings: "Settings",
    dependencies: "Dependencies",
    listener: socket.socket | None,
    own_socket: Path | None,
    api_sockets: Path | None,
) -> None:
    """One process of the front door. Its name stays the same from life to life, as its socket's does."""
    from codehub.proxy.role import FrontDoorRole
    from codehub.web.own_socket import reached_alone

    if listener is None or api_sockets is None:
        raise typer.BadParameter("The role proxy needs an address and --api-sockets.", param_hint="--roles")
    called = own_socket.name.split(".")[0] if own_socket is not None else "proxy"
    role = FrontDoorRole(
        settings, dependencies.database_url, dependencies.redis_url, api_sockets, f"{socket.gethostname()}:{called}"
    )
    with reached_alone(own_socket) if own_socket is not None else nullcontext() as alone:
        role.run(listener, alone)


def _answer(
    settings: "Settings",
    dependencies: "Dependencies",
    listener: socket.socket | None,
    own_socket: Path | None,
    *,
    coordinates: bool,
) -> None:
    """Run the application on the sockets. SIGTERM and SIGINT end it with exit code 0 after what is under way.

    Coordinators run in the process of the API, as founded: health is always there to ask about them.
    """
    from codehub.coordinators.role import CoordinatorRole
    from codehub.images.inside import lay_out
    from codehub.telemetry.traces import open_traces
    from codehub.web.app import create_app
    from codehub.web.inside.door import Door
    from codehub.web.process import Process
    from codehub.web.server import DrainingServer

    traces = open_traces(settings.traces.endpoint, settings.coordinator.node_id)
    process = Process(traces=traces, own_socket=own_socket)
    coordinators = None
    if coordinates:
        coordinators = CoordinatorRole(
            settings,
            dependencies.database_url,
            dependencies.redis_url,
            dependencies.archive_store,
            process.metrics,
            traces,
        )
    app = create_app(settings, dependencies, coordinators, process)
    folder = settings.inside_folder
    inside = Door(app.state.inside, folder) if lay_out(folder) else None
    # Once it has ended well, uvicorn sends itself the signal again, for whoever handled it before: nobody, all is done.
    for ending in (signal.SIGTERM, signal.SIGINT):
        signal.signal(ending, signal.SIG_IGN)
    DrainingServer(app, process.drain, own_socket, inside).run(sockets=[listener] if listener is not None else [])
    traces.close()
