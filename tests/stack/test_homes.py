"""What `codehub reset` removes that is outside of the data folder, or still runs."""

import uuid
from pathlib import Path

from codehub.job.order import Kind
from codehub.runtimes.local.runtime import LocalRuntime
from codehub.runtimes.protocols import VolumeSpec
from codehub.settings import Settings
from codehub.stack.account import service_account
from codehub.stack.data_folder import DataFolder
from codehub.stack.homes import count_homes, remove_homes
from tests.contracts.job_kit import silent_store
from tests.folders import short_folder


async def test_homes_go_with_the_jobs_that_hold_them() -> None:
    with short_folder() as folder:
        settings = Settings.load({"CODEHUB_DATA_DIR": str(folder)}, folder)
        data, installation = DataFolder(folder, service_account()), f"test-{uuid.uuid4().hex[:12]}"
        leave_word(data.installation, installation)
        runtime = LocalRuntime(folder, installation, lambda _: None)
        home = VolumeSpec("home", uuid.uuid4(), uuid.uuid4(), 1)
        await runtime.volumes.create(home)
        async with silent_store(folder) as store:
            await runtime.jobs.run(store.errand.spec(Kind.VERIFY, home))
            await store.is_called()
            assert await count_homes(settings, data) == 1
            await remove_homes(settings, data)
            await store.is_left_alone()
        assert await runtime.jobs.list() == ()
        assert await runtime.volumes.list() == ()


def leave_word(file: Path, installation: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(installation)
