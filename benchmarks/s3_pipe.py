"""The S3 client alone, between a pipe and a store: what `benchmarks.archive` compares jobs with.

... | python -m benchmarks.s3_pipe put KEY
python -m benchmarks.s3_pipe get KEY | ...
"""

import os
import sys

import obstore
from obstore.store import S3Store

CHUNK_BYTES = 1024 * 1024
PART_BYTES = 8 * 1024 * 1024
AT_ONCE = 4


def main(action: str, key: str) -> None:
    store = S3Store(
        os.environ["PIPE_BUCKET"],
        endpoint=os.environ["PIPE_ENDPOINT"],
        access_key_id=os.environ["PIPE_ACCESS_KEY"],
        secret_access_key=os.environ["PIPE_SECRET_KEY"],
        region="us-east-1",
        client_options={"allow_http": True},
    )
    if action == "put":
        with obstore.open_writer(store, key, buffer_size=PART_BYTES, max_concurrency=AT_ONCE) as writer:
            while piece := sys.stdin.buffer.read(CHUNK_BYTES):
                writer.write(piece)
    else:
        for piece in obstore.get(store, key).stream(min_chunk_size=CHUNK_BYTES):
            sys.stdout.buffer.write(piece)


main(*sys.argv[1:])
