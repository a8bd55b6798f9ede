"""Where a value comes from, which place wins, and what is said about one that cannot be used."""

from pathlib import Path

import pytest

from codehub.errors import ConfigurationError
from codehub.settings import Settings
from codehub.settings.load import default_data_dir, variables


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder to load from, beside an empty data folder."""
    for name in ("here", "data"):
        (tmp_path / name).mkdir()
    return tmp_path / "here"


def load(folder: Path, **environ: str) -> Settings:
    return Settings.load({"CODEHUB_DATA_DIR": str(folder.parent / "data"), **environ}, folder)


def source_of(settings: Settings, name: str) -> str:
    return next(settings.source(variable) for variable in variables() if variable.name == name)


def test_without_any_file_or_variable_the_defaults_hold(folder: Path) -> None:
    settings = load(folder)
    assert settings.codehub.listen_address == ("127.0.0.1", 8080)
    assert settings.ttl.standby_seconds == 600
    assert settings.database.url is None
    assert source_of(settings, "TTL_STANDBY_SECONDS") == "default"


def test_the_environment_wins_over_dotenv_over_this_folder_over_the_data_folder(folder: Path) -> None:
    data = folder.parent / "data"
    (data / "codehub.toml").write_text(
        "ttl.standby_seconds = 101\nttl.archive_seconds = 102\n"
        "limits.max_running_global = 103\nsse.heartbeat_seconds = 104"
    )
    (folder / "codehub.toml").write_text(
        "[ttl]\nstandby_seconds = 201\narchive_seconds = 202\n[limits]\nmax_running_global = 203"
    )
    (folder / ".env").write_text("TTL_STANDBY_SECONDS=301\nexport TTL_ARCHIVE_SECONDS='302'\nUNRELATED=1\n")
    settings = load(folder, TTL_STANDBY_SECONDS="401")
    found = {
        "TTL_STANDBY_SECONDS": settings.ttl.standby_seconds,
        "TTL_ARCHIVE_SECONDS": settings.ttl.archive_seconds,
        "LIMITS_MAX_RUNNING_GLOBAL": settings.limits.max_running_global,
        "SSE_HEARTBEAT_SECONDS": settings.events.heartbeat_seconds,
    }
    assert list(found.values()) == [401, 302, 203, 104]
    assert [source_of(settings, name) for name in found] == [
        "environment",
        str(folder / ".env"),
        str(folder / "codehub.toml"),
        str(data / "codehub.toml"),
    ]


def test_tables_inside_tables_name_the_same_variables(folder: Path) -> None:
    (folder / "codehub.toml").write_text('archive.url = "s3://homes/prefix/"\n[archive.s3]\nregion = "eu-north-1"')
    settings = load(folder)
    assert (settings.archive.url, settings.archive.s3_region) == ("s3://homes/prefix", "eu-north-1")


def test_an_empty_variable_is_one_that_is_not_set(folder: Path) -> None:
    assert load(folder, DATABASE_URL="", TTL_STANDBY_SECONDS="").ttl.standby_seconds == 600


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("TTL_STANDBY_SECONDS", "soon", "a whole number of seconds, at least 1"),
        ("TTL_STANDBY_SECONDS", "0", "a whole number of seconds, at least 1"),
        ("COORDINATOR_IDLE_INTERVAL", "inf", "a number of seconds, more than 0"),
        ("ARCHIVE_GC_MAX_SHARE", "1.5", "a number, more than 0 and at most 1"),
        ("ARCHIVE_VERIFY", "twice", "checksum or extract"),
        ("CODEHUB_LISTEN", "8080", "host:port"),
        ("CODEHUB_LISTEN", "localhost:70000", "host:port"),
        ("CODEHUB_DATA_DIR", "data", "an absolute path"),
        ("REDIS_CHANNEL_SSE_PREFIX", "two words", "printable characters without spaces"),
        ("DATABASE_URL", "mysql://host/name", "postgresql://user:password@host:port/database"),
        ("ARCHIVE_URL", "file://archives", "file:///absolute/path or s3://bucket/prefix"),
    ],
)
def test_a_bad_value_is_told_with_its_name_source_and_what_is_allowed(
    folder: Path, name: str, value: str, allowed: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(folder, **{name: value})
    assert str(refusal.value) == (
        f'{name} is "{value}" (from environment), which cannot be used. Allowed is {allowed}.'
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DATABASE_URL", "mysql://user:hunter2@host/name"),
        ("DATABASE_URL", "user:hunter2@host/name"),
        ("DATABASE_URL", "postgresql://user:hunter2@ho@st:port/name"),
        ("REDIS_URL", "http://:hunter2@host"),
        ("REDIS_URL", "redis:///0?password=hunter2"),
        ("ARCHIVE_URL", "s3://key:hunter2@bucket"),
    ],
)
def test_the_message_about_a_bad_url_does_not_show_its_password(folder: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(folder, **{name: value})
    assert name in str(refusal.value)
    assert "hunter2" not in str(refusal.value)


def test_the_settings_never_print_their_secrets(folder: Path) -> None:
    settings = load(
        folder,
        DATABASE_URL="postgresql://user:hunter2@host/name",
        REDIS_URL="redis://:hunter2@host",
        ARCHIVE_URL="s3://bucket",
        ARCHIVE_S3_ACCESS_KEY_ID="key",
        ARCHIVE_S3_SECRET_ACCESS_KEY="hunter2",
    )
    assert "hunter2" not in repr(settings) + str(settings)


@pytest.mark.parametrize(
    ("file", "content", "sentence"),
    [
        ("codehub.toml", "[ttl]\nstanby_seconds = 5", "Did you mean TTL_STANDBY_SECONDS?"),
        ("codehub.toml", "[colour]\nx = 1", "docs/configuration.md lists all settings."),
        ("codehub.toml", "[ttl", "is not valid TOML"),
        ("codehub.toml", "ttl.standby_seconds = [1]", "is neither text nor a number"),
        ("codehub.toml", "ttl.standby_seconds = true", "Allowed is a whole number of seconds, at least 1."),
        ("codehub.toml", "TTL_STANDBY_SECONDS = 7\nttl.standby_seconds = 7", "is set twice"),
        (".env", "TTL_STANDBY_SECOND=5", "Did you mean TTL_STANDBY_SECONDS?"),
        (".env", "ttl_standby_seconds=5", "Did you mean TTL_STANDBY_SECONDS?"),
        (".env", "A=1\n'broken", "Line 2 of"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_the_file(folder: Path, file: str, content: str, sentence: str) -> None:
    (folder / file).write_text(content)
    with pytest.raises(ConfigurationError) as refusal:
        load(folder)
    assert sentence in str(refusal.value)
    assert str(folder / file) in str(refusal.value)


def test_a_file_that_is_not_text_is_told(folder: Path) -> None:
    (folder / ".env").write_bytes(b"A=\xff\xfe")
    with pytest.raises(ConfigurationError, match="is not UTF-8 text"):
        load(folder)


def test_a_file_that_cannot_be_read_is_told(folder: Path) -> None:
    (folder / "codehub.toml").mkdir()
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        load(folder)


def test_the_data_folder_cannot_name_another_data_folder(folder: Path) -> None:
    (folder.parent / "data" / "codehub.toml").write_text('codehub.data_dir = "/elsewhere"')
    with pytest.raises(ConfigurationError, match="found through it"):
        load(folder)


def test_a_data_folder_that_is_also_this_folder_is_read_once(folder: Path) -> None:
    (folder / "codehub.toml").write_text(f'codehub.data_dir = "{folder}"')
    assert Settings.load({}, folder).codehub.data_dir == folder


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"ACTIVITY_FLUSH_INTERVAL": "301"}, "ACTIVITY_FLUSH_INTERVAL may be at most half of TTL_STANDBY_SECONDS"),
        ({"COORDINATOR_ACTIVE_INTERVAL": "16"}, "may be at most COORDINATOR_IDLE_INTERVAL"),
        ({"COORDINATOR_VERIFY_TIMEOUT": "5.5"}, "may be at most COORDINATOR_LEASE_SECONDS"),
        ({"TTL_STANDBY_CEILING_SECONDS": "599"}, "may be at most TTL_STANDBY_CEILING_SECONDS"),
        ({"TTL_ARCHIVE_CEILING_SECONDS": "1"}, "may be at most TTL_ARCHIVE_CEILING_SECONDS"),
        ({"RETENTION_DELETED_SECONDS": "60"}, "may be at most RETENTION_DELETED_SECONDS"),
        ({"ARCHIVE_S3_ENDPOINT": "http://localhost:9000"}, "Set ARCHIVE_URL too."),
        ({"PROXY_ORIGIN": "http://localhost:8081"}, "a host that codehub itself answers on"),
        ({"PROXY_ORIGIN": "http://127.0.0.1:8081"}, "a host that codehub itself answers on"),
        (
            {"CODEHUB_PUBLIC_URL": "https://codehub.example.org", "PROXY_ORIGIN": "https://codehub.example.org:8443"},
            "a host that codehub itself answers on",
        ),
        ({"PROXY_CERTIFICATE": "/etc/codehub.pem"}, "Set CODEHUB_PUBLIC_URL"),
    ],
)
def test_values_that_contradict_each_other_are_refused(folder: Path, environ: dict[str, str], sentence: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(folder, **environ)
    assert sentence in str(refusal.value)


def test_a_contradiction_names_both_values_and_their_sources(folder: Path) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(folder, ACTIVITY_FLUSH_INTERVAL="400")
    assert refusal.value.what == (
        "ACTIVITY_FLUSH_INTERVAL is 400 (environment), but TTL_STANDBY_SECONDS is 600 (default)."
    )


def test_exactly_half_the_standby_time_is_allowed(folder: Path) -> None:
    assert load(folder, ACTIVITY_FLUSH_INTERVAL="300").activity.flush_interval == 300


@pytest.mark.parametrize(
    ("root", "environ", "expected"),
    [
        (True, {"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, "/var/lib/codehub"),
        (False, {"HOME": "/home/ada", "XDG_DATA_HOME": "/data"}, "/data/codehub"),
        (False, {"HOME": "/home/ada", "XDG_DATA_HOME": "relative"}, "/home/ada/.local/share/codehub"),
        (False, {"HOME": "/home/ada"}, "/home/ada/.local/share/codehub"),
    ],
)
def test_the_data_folder_is_the_users_or_for_root_the_systems(
    root: bool, environ: dict[str, str], expected: str
) -> None:
    assert default_data_dir(environ, is_root=root) == Path(expected)


def test_archives_are_kept_in_the_data_folder_unless_told_otherwise(folder: Path) -> None:
    assert load(folder).archive_url == (folder.parent / "data" / "archives").as_uri()
    assert load(folder, ARCHIVE_URL="s3://homes").archive_url == "s3://homes"


def test_a_child_process_gets_the_same_settings_without_the_files(folder: Path, tmp_path: Path) -> None:
    (folder / ".env").write_text("TTL_STANDBY_SECONDS=301\nARCHIVE_S3_SECRET_ACCESS_KEY=hunter2\n")
    (folder / "codehub.toml").write_text('database.url = "postgres://user:pw@host/name"')
    settings = load(folder, COORDINATOR_NODE_ID="here", COORDINATOR_IDLE_INTERVAL="2.5")
    child = Settings.load(settings.environment(), tmp_path)
    assert child.model_dump(exclude={"sources"}) == settings.model_dump(exclude={"sources"})


def test_a_child_process_has_a_name_of_its_own(folder: Path) -> None:
    assert set(load(folder).environment()) == {"CODEHUB_DATA_DIR"}
