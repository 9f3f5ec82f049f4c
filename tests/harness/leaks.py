"""What this process gave services as secrets and as content, and heard from them; and the logs that must keep it.

It is gathered where tests speak with services anyway, and looked for once, at the end of the run: that costs nothing.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx2

# Field of a request or an answer → what its text is. Everything below such a field counts.
FIELDS: Mapping[str, str] = {
    "chat_messages": "chat",
    "custom_metadata": "metadata",
    "email": "address",
    "initial_chat_message": "chat",
    "key": "key",
    "password": "password",
    "secret": "secret",
    "text": "chat",
    "transcript": "words",
    "zoom_zak_token": "token",
}
_IN_ADDRESSES = re.compile(r"[?&](?:token|signature|secret|pwd|zak)=([^&\s\"]+)")
_SETTINGS = re.compile("KEY|SECRET|TOKEN|PASSWORD")
LEAST = 7  # characters: what is shorter may stand in a log by chance
# Word by word a log may say the same; a phrase is somebody's.
LEAST_WORDS = 3


class Planted:
    """What was planted, and which logs have to keep it."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}  # text → its kind
        self.logs: set[Path] = set()

    def add(self, kind: str, text: str) -> None:
        """Note a secret, or a piece of content. What a log may have by chance is left out."""
        text = text.strip()
        if len(text) >= LEAST and (kind != "words" or len(text.split()) >= LEAST_WORDS):
            self.texts.setdefault(text, kind)

    def take(self, data: Any, kind: str = "") -> None:
        """Note what is secret or content in the body of a request or an answer."""
        for found, text in _found(data, kind):
            self.add(found, text)

    def take_settings(self, environment: Mapping[str, str]) -> None:
        """Note the secrets that a service was started with."""
        for name, value in environment.items():
            if name.startswith("SEDERUNT_") and _SETTINGS.search(name) and not name.endswith("_FILE"):
                self.add("key", value)

    def hooks(self) -> dict[str, list[Any]]:
        """Return what has a client of the API note what it sends and gets."""
        return {"request": [self._sent], "response": [self._got]}

    async def _sent(self, request: httpx2.Request) -> None:
        if request.headers.get("content-type", "").startswith("application/json"):
            self.take(_json(request.content))

    async def _got(self, response: httpx2.Response) -> None:
        if response.headers.get("content-type", "").startswith("application/json"):
            self.take(_json(await response.aread()))

    def leaked(self) -> list[str]:
        """Return where something planted stands in a log: the kind, the log, and the line around it."""
        logs = {path: path.read_text(errors="replace") for path in self.logs if path.exists()}
        return [
            f"{kind} in {path}: …{log[max(0, at - 200) : at + 200]}…"
            for path, log in logs.items()
            for text, kind in self.texts.items()
            for spelling in {text, json.dumps(text)[1:-1]}
            if (at := log.find(spelling)) >= 0
        ]


def _found(data: Any, kind: str) -> Iterator[tuple[str, str]]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            if kind == "metadata":
                yield kind, name
            yield from _found(value, kind or FIELDS.get(name, ""))
    elif isinstance(data, list):
        for value in data:
            yield from _found(value, kind)
    elif isinstance(data, str):
        if kind:
            yield kind, data
        yield from (("token", unquote(value)) for value in _IN_ADDRESSES.findall(data))


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return None


PLANTED = Planted()
