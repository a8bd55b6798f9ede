"""Whole homes on an engine: filled, and looked at down to the last file, through a container of the test's own."""

from typing import Any

import aiodocker

HOME = "/home/coder"
BEGIN = f"set -e; busybox --install -s /tmp; PATH=/tmp; cd {HOME}; "
FURNISH = """
mkdir -p project/.git empty 'a name' && cd project
dd if=/dev/urandom of=data bs=1024 count={kibibytes} 2>/dev/null
echo 'not to be lost' > notes.txt && chmod 600 notes.txt && touch -d '2020-01-02 03:04:05' notes.txt
ln -s notes.txt link && ln notes.txt again && echo x > .git/HEAD && touch '../a name/file'
dd if=/dev/zero of=holes bs=1 count=1 seek=3000000 2>/dev/null
n=0; while [ $n -lt {files} ]; do echo $n > file-$n; n=$((n+1)); done
chown -R 1000:1000 {home}
"""
LOOK = """
find . ! -path . ! -path ./starts -exec stat -c '%n %F %a %u:%g %s %h %Y %N' {} + | sort
find . ! -path ./starts -type f -exec sha256sum {} + | sort
"""
"""But for the note that the IDE makes of each start."""


async def furnish(docker: aiodocker.Docker, image: str, volume: str, *, kibibytes: int = 2000, files: int = 50) -> str:
    """Put something of every kind into a home. What it is like then."""
    filling = FURNISH.format(kibibytes=kibibytes, files=files, home=HOME)
    await run(docker, image, volume, filling, read_only=False)
    return await tree(docker, image, volume)


async def tree(docker: aiodocker.Docker, image: str, volume: str) -> str:
    """Every entry with its kind, mode, owner, size, links, time and target, and the hash of every file."""
    return await run(docker, image, volume, LOOK, read_only=True)


async def run(docker: aiodocker.Docker, image: str, volume: str, script: str, *, read_only: bool) -> str:
    config: dict[str, Any] = {
        "Image": image,
        "Entrypoint": [
            "/bin/busybox",
            "sh",
            "-c",
            f"set -e; busybox --install -s /tmp; PATH=/tmp; cd {HOME}; {script}",
        ],
        "User": "0:0",
        "HostConfig": {
            "NetworkMode": "none",
            "Mounts": [{"Type": "volume", "Source": volume, "Target": HOME, "ReadOnly": read_only}],
        },
    }
    container = await docker.containers.create(config)
    try:
        await container.start()
        ended = await container.wait()
        said = "".join(await container.log(stdout=True, stderr=True))
        assert ended["StatusCode"] == 0, said
        return said
    finally:
        await container.delete(force=True)
