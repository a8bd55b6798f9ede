#!/usr/bin/python3 -I
"""Stands in the place of code-server in the tests of the front door: says what it was asked, over HTTP and WebSocket,
tries to set whatever cookies it likes, and has a terminal: what is posted to /terminal is run by a shell. At /worker.js
it has a service worker, which answers in its place."""

import base64
import hashlib
import json
import os
import socketserver
import struct
import subprocess
import sys
from http.server import BaseHTTPRequestHandler

WORKER = b"""self.oninstall = () => self.skipWaiting();
self.onactivate = (event) => event.waitUntil(self.clients.claim());
self.onfetch = (event) => event.respondWith(new Response("of a worker"));
"""
COOKIES = ("codehub=evil", "__Host-codehub=evil", " codehub-visit=evil; Path=/", "own=1; Domain=localhost", "mine=2")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self.become_websocket()
            return
        if self.path.startswith("/print/"):
            print(self.path.removeprefix("/print/"), flush=True)  # noqa: T201
        is_worker = self.path == "/worker.js"
        body = WORKER if is_worker else json.dumps(self.asked()).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript" if is_worker else "application/json")
        self.send_header("Content-Length", str(len(body)))
        for cookie in COOKIES if self.path.endswith("/cookies") else ():
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path == "/terminal":
            subprocess.run(["/bin/bash", "-lc", sent], check=True, stdin=subprocess.DEVNULL)
        self.do_GET()

    def asked(self) -> dict[str, object]:
        return {"method": self.command, "path": self.path, "headers": self.headers.items()}

    def become_websocket(self) -> None:
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())  # noqa: S324
        self.end_headers()
        self.close_connection = True
        self.say(json.dumps(self.asked()).encode())
        while (heard := self.hear()) is not None:
            self.say(heard)

    def say(self, words: bytes) -> None:
        self.wfile.write(b"\x81" + (bytes([len(words)]) if len(words) < 126 else b"~" + struct.pack(">H", len(words))))
        self.wfile.write(words)

    def hear(self) -> bytes | None:
        head = self.rfile.read(2)
        if len(head) < 2 or head[0] & 15 == 8:
            return None
        length = head[1] & 127
        if length == 126:
            (length,) = struct.unpack(">H", self.rfile.read(2))
        mask = self.rfile.read(4)
        return bytes(byte ^ mask[place % 4] for place, byte in enumerate(self.rfile.read(length)))

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
