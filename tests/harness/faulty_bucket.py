"""A server that answers as S3 does where the bucket is gone, or where the credentials may not list."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import SecretStr

from sederunt.settings import StorageSettings

_DELETED = (
    '<DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Deleted><Key>all</Key></Deleted></DeleteResult>'
)
_LISTED = '<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>{}'
_ENTRY = "<Contents><Key>{}</Key><Size>{}</Size><LastModified>2026-11-26T20:00:00.000Z</LastModified></Contents>"


@dataclass
class FaultyBucket:
    """What the server does, and what it was asked: "METHOD path"."""

    url: str = ""
    exists: bool = True
    lists: bool = True  # whether the credentials may list
    shows: bool = True  # whether a listing tells what there is
    objects: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    @property
    def settings(self) -> StorageSettings:
        """Return the settings of a service that has this bucket."""
        return StorageSettings(
            url="s3://bucket",
            options={"endpoint": self.url, "region": "x"},
            secret_options={"access_key_id": SecretStr("x"), "secret_access_key": SecretStr("y")},
        )

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        """Return (status, body)."""
        self.asked.append(f"{method} {path}")
        place, _, query = path.partition("?")
        key = place.removeprefix("/bucket").lstrip("/")
        if not self.exists:
            return 404, _error("NoSuchBucket")
        if "list-type" in query:
            return (200, self._listing()) if self.lists else (403, _error("AccessDenied"))
        match method:
            case "PUT":
                self.objects[key] = body
            case "POST":  # as the client deletes, one as well as many
                self.objects.clear()
                return 200, _DELETED.encode()
            case _:
                return (200, self.objects[key]) if key in self.objects else (404, _error("NoSuchKey"))
        return 200, b""

    def _listing(self) -> bytes:
        entries = "".join(_ENTRY.format(key, len(data)) for key, data in self.objects.items() if self.shows)
        return f"{_LISTED.format(entries)}</ListBucketResult>".encode()


def _error(code: str) -> bytes:
    return f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()


@contextmanager
def faulty_bucket() -> Iterator[FaultyBucket]:
    """The server, until the end of the block."""
    bucket = FaultyBucket()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = bucket.answer(self.command, self.path, sent)
            self.send_response(status)
            for name, value in (("ETag", '"x"'), ("Last-Modified", "Thu, 26 Nov 2026 20:00:00 GMT")):
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = do_POST = _answer

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    bucket.url = f"http://127.0.0.1:{server.server_port}"
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield bucket
    finally:
        server.shutdown()
        server.server_close()
        serving.join()
