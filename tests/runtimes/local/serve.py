"""The IDE of the tests: adds a line to `starts` in its home, prints `listening`, and on the unix socket that is its
argument serves its home over GET and runs what is POSTed to it as a shell command. With EXIT_CODE it ends at once."""

import os
import socketserver
import subprocess
import sys
from http.server import SimpleHTTPRequestHandler
from pathlib import Path


class Handler(SimpleHTTPRequestHandler):
    def do_POST(self) -> None:
        command = self.rfile.read(int(self.headers["Content-Length"]))
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(done.stdout + done.stderr)

    def log_message(self, *_: object) -> None:
        """Nothing: what is printed is what tests look at."""

    def address_string(self) -> str:
        return "front door"


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Nothing either: a probe goes away when it has read the status, and that is no fault."""


if code := os.environ.get("EXIT_CODE"):
    sys.exit(int(code))
with Path("starts").open("a") as starts:
    starts.write("started\n")
with Server(sys.argv[1], Handler) as server:
    print("listening", flush=True)  # noqa: T201
    server.serve_forever()
