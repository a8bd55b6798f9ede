"""Kills every part of a running stack, round after round, and prints how long each took to come back.

    python -m benchmarks.kill_stack --rounds 20

After every kill all rows, keys and objects that were ever written are looked for. At the end the supervisor is killed:
its children must be gone within 5 s, and the next start must find everything.
"""

import argparse
import os
import signal
import statistics
import time
from collections import defaultdict

from tests.faults.witness import Witness
from tests.stack.installation import Installation, installation, is_alive, until

PARTS = ("postgres", "valkey", "seaweedfs", "serve")


def campaign(codehub: Installation, rounds: int) -> dict[str, list[float]]:
    began = time.monotonic()
    codehub.up("--s3")
    print(f"up --detach --s3: {time.monotonic() - began:.1f} s")
    until(lambda: codehub.part("seaweedfs")["state"] == "ready", seconds=60)
    witness = Witness(codehub, with_objects=True)
    took = defaultdict(list)
    for number in range(1, rounds + 1):
        for part in PARTS:
            witness.write()
            took[part].append(codehub.kill(part))
            witness.check()
        print(f"round {number}: " + ", ".join(f"{part} {took[part][-1]:.2f} s" for part in PARTS), flush=True)
    took["supervisor"].append(kill_supervisor(codehub, witness))
    return took


def kill_supervisor(codehub: Installation, witness: Witness) -> float:
    """The seconds until the next `up` was ready, from the moment the last child was gone."""
    witness.write()
    children = [part["pid"] for part in codehub.state()["parts"] if part["pid"]]
    began = time.monotonic()
    os.kill(codehub.pid, signal.SIGKILL)
    until(lambda: not any(map(is_alive, children)), seconds=5)
    print(f"supervisor killed: its children were gone after {time.monotonic() - began:.2f} s")
    began = time.monotonic()
    codehub.up()
    ready = time.monotonic() - began
    until(lambda: codehub.part("seaweedfs")["state"] == "ready", seconds=60)
    witness.check()
    return ready


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=20)
    with installation() as codehub:
        took = campaign(codehub, arguments.parse_args().rounds)
    print(f"{'part':<12}{'kills':>6}{'median s':>10}{'longest s':>10}")
    for part, seconds in took.items():
        print(f"{part:<12}{len(seconds):>6}{statistics.median(seconds):>10.2f}{max(seconds):>10.2f}")


if __name__ == "__main__":
    main()
