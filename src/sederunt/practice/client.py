"""The control API as Python, for tests and demonstrations whose practice server is another process."""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import httpx2

from sederunt.errors import RequestError

if TYPE_CHECKING:
    from sederunt.practice.script import Script


class PracticeClient:
    """One practice server. Use as an async context manager."""

    def __init__(self, control_url: str) -> None:
        self._http = httpx2.AsyncClient(base_url=control_url, timeout=60, trust_env=False)

    async def open_meeting(
        self, what: "Script | Mapping[str, Any] | None" = None, *, code: str | None = None
    ) -> "MeetingHandle":
        """Open a meeting; without a script the demonstration."""
        if what is not None and not isinstance(what, Mapping):
            from sederunt.practice import script  # its clips load what encodes sound

            what = script.to_data(what)
        made = await self.ask("POST", "/meetings", {"script": what, "code": code})
        return MeetingHandle(self, made["code"], made["url"])

    async def host_rules(self) -> str:
        """Return rules for Chromium's --host-resolver-rules."""
        rules: str = (await self.ask("GET", "/meetings"))["host_rules"]
        return rules

    async def ask(self, method: str, path: str, body: object = None, *, within_s: float = 60, **query: Any) -> Any:
        """Send one request; RequestError with the server's sentence when it refuses, TimeoutError when a wait ran
        out.
        """
        answer = await self._http.request(method, path, json=body, params=query, timeout=within_s)
        if answer.status_code == httpx2.codes.REQUEST_TIMEOUT:
            raise TimeoutError(answer.json()["message"])
        if answer.is_error:
            refusal = answer.json()
            faults = [f"{field}: {' '.join(sentences)}" for field, sentences in refusal.get("fields", {}).items()]
            raise RequestError("; ".join(faults) or str(refusal["message"]))
        return answer.json() if answer.content else None

    async def __aenter__(self) -> "PracticeClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()


class MeetingHandle:
    """One meeting on a practice server."""

    def __init__(self, client: PracticeClient, code: str, url: str) -> None:
        self.code = code
        self.url = url
        self._client = client

    async def do(self, deed: str, **arguments: Any) -> None:
        """Do any deed of the control API."""
        await self._client.ask("POST", f"/meetings/{self.code}/{deed}", arguments)

    async def admit(self, bot: str | None = None) -> None:
        await self.do("admit", bot=bot)

    async def deny(self, bot: str | None = None) -> None:
        await self.do("deny", bot=bot)

    async def kick(self, bot: str | None = None) -> None:
        await self.do("kick", bot=bot)

    async def end(self) -> None:
        await self.do("end")

    async def say(self, who: str, clip: str) -> None:
        """Let that person speak that clip now."""
        await self.do("say", who=who, clip=clip)

    async def chat(self, who: str, text: str) -> None:
        """Let that person write to everyone."""
        await self.do("chat", who=who, text=text)

    async def state(self) -> dict[str, Any]:
        """Return people, bots (name, standing), chat, script, reference."""
        found: dict[str, Any] = await self._client.ask("GET", f"/meetings/{self.code}")
        return found

    async def events(self, *, after: int = 0, kind: str | None = None) -> list[dict[str, Any]]:
        query: dict[str, Any] = {"after": after} | ({"kind": kind} if kind else {})
        found: list[dict[str, Any]] = await self._client.ask("GET", f"/meetings/{self.code}/events", **query)
        return found

    async def wait_for(self, kind: str, *, after: int = 0, timeout_s: float = 60, **match: Any) -> dict[str, Any]:
        """Return the first such event later than number `after`; TimeoutError says what happened instead."""
        query: dict[str, Any] = {"after": after, "kind": kind, "wait_s": timeout_s, **match}
        path = f"/meetings/{self.code}/events"
        found: list[dict[str, Any]] = await self._client.ask("GET", path, within_s=timeout_s + 10, **query)
        return found[0]

    async def packets(self, bot: str | None = None, *, after: int = 0) -> list[dict[str, Any]]:
        """Return what was sent to a bot: slot, ssrc, sequence, timestamp, csrcs, digest (SHA-256 of the
        payload), lost.
        """
        query: dict[str, Any] = {"after": after} | ({"bot": bot} if bot else {})
        found: list[dict[str, Any]] = await self._client.ask("GET", f"/meetings/{self.code}/packets", **query)
        return found

    async def close(self) -> None:
        await self._client.ask("DELETE", f"/meetings/{self.code}")
