#!/usr/bin/python3 -I
"""Stands in the place of code-server in the tests of commands: started as that is, it answers on its socket at once,
and runs what is POSTed to it as a shell command."""

import os
import socketserver
import subprocess
import sys
from http.server import BaseHTTPRequestHandler


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_POST(self) -> None:
        command = self.rfile.read(int(self.headers["Content-Length"]))
        done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, check=False)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(done.stdout + done.stderr)

    def log_message(self, *_: object) -> None:
        """Only what the tests look at is printed."""

    def address_string(self) -> str:
        return "front door"


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


socket = next(word.removeprefix("--socket=") for word in sys.argv if word.startswith("--socket="))
with Server(socket, Handler) as server:
    os.chmod(socket, 0o666)  # noqa: PTH101, S103 (the front door is somebody else)
    print("listening", flush=True)  # noqa: T201
    server.serve_forever()
