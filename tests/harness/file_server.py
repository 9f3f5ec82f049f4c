"""A server of files on a loopback port, which answers what a test gives it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Files:
    """What the server answers: path → (status, body, headers); 304 to who knows a file by its ETag already."""

    url: str = ""
    answers: dict[str, tuple[int, bytes, dict[str, str]]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)  # the Authorization of each of these
    unchanged: list[str] = field(default_factory=list)  # of what was asked, what was answered with 304

    def give(self, path: str, body: bytes, status: int = 200, **headers: str) -> str:
        """Put an answer there; its address."""
        self.answers[path] = (status, body, headers)
        return self.url + path


@contextmanager
def file_server() -> Iterator[Files]:
    """The server, until the end of the block."""
    known = Files()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append(self.path)
            known.keys.append(self.headers.get("Authorization"))
            status, body, headers = known.answers.get(self.path, (404, b"", {}))
            if headers.get("ETag", "") == self.headers.get("If-None-Match"):
                known.unchanged.append(self.path)
                status, body = 304, b""
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "content-length" not in {name.lower() for name in headers}:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    known.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield known
    server.shutdown()
    server.server_close()
    thread.join()
