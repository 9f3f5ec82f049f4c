"""The control API of a simulated vendor that runs as a process of its own, and its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx2
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from harness.vendors.vendor import Vendor

PREFIX = "/practice-control"


def routes(vendor: Vendor) -> list[Route]:
    """Faults, limits and counts of a vendor."""

    async def add_fault(request: Request) -> JSONResponse:
        body = await request.json()
        vendor.fault(body.pop("kind"), **body)
        return JSONResponse({})

    async def clear(_: Request) -> JSONResponse:
        vendor.faults.clear()
        vendor.ledger.clear()
        return JSONResponse({})

    async def set_limits(request: Request) -> JSONResponse:
        for name, value in (await request.json()).items():
            if not hasattr(vendor.limits, name):
                return JSONResponse({"message": f"there is no limit {name}"}, 400)
            setattr(vendor.limits, name, value)
        return JSONResponse({})

    async def counts(_: Request) -> JSONResponse:
        return JSONResponse(vendor.ledger.summary())

    async def wait(request: Request) -> JSONResponse:
        """Wait until an operation was asked for so often, or so much live sound has come."""
        asked = request.query_params
        operation, count = asked.get("operation", ""), int(asked.get("count", 1))
        seconds, timeout_s = float(asked.get("seconds", 0)), float(asked.get("timeout", 60))
        await run_in_threadpool(
            vendor.ledger.wait,
            lambda ledger: (
                (not operation or len(ledger.of(operation)) >= count)
                and sum(stream.seconds for stream in ledger.streams) >= seconds
            ),
            timeout_s,
        )
        return JSONResponse(vendor.ledger.summary())

    return [
        Route(f"{PREFIX}/faults", add_fault, methods=["POST"]),
        Route(f"{PREFIX}/clear", clear, methods=["POST"]),
        Route(f"{PREFIX}/limits", set_limits, methods=["POST"]),
        Route(f"{PREFIX}/counts", counts),
        Route(f"{PREFIX}/wait", wait),
    ]


class VendorControl:
    """A simulated vendor in another process."""

    def __init__(self, name: str, url: str, socket_url: str, key: str, organisation: str) -> None:
        self.name, self.url, self.socket_url, self.key, self.organisation = name, url, socket_url, key, organisation
        self._client = httpx2.Client(base_url=url + PREFIX, timeout=120)

    @property
    def settings(self) -> dict[str, str]:
        """The environment that points the service there, with the operator's key."""
        prefix = f"SEDERUNT_PROVIDERS__{self.name.upper()}__"
        given = {"URL": self.url, "KEY": self.key, "SOCKET_URL": self.socket_url, "ORGANISATION": self.organisation}
        return {prefix + name: value for name, value in given.items() if value}

    def fault(self, kind: str, **details: Any) -> None:
        """Fail so from now on; see `faults`."""
        self._client.post("/faults", json={"kind": kind, **details}).raise_for_status()

    def limit(self, **limits: Any) -> None:
        """Other limits than the documents'."""
        self._client.post("/limits", json=limits).raise_for_status()

    def clear(self) -> None:
        """Forget faults and counts."""
        self._client.post("/clear").raise_for_status()

    def counts(self) -> dict[str, Any]:
        """What `Ledger.summary` says."""
        answer: dict[str, Any] = self._client.get("/counts").raise_for_status().json()
        return answer

    def wait(self, operation: str = "", *, count: int = 1, seconds: float = 0, timeout_s: float = 60) -> dict[str, Any]:
        """Block until an operation was asked for so often and so much live sound has come; the counts."""
        asked: dict[str, str | int | float] = {
            "operation": operation,
            "count": count,
            "seconds": seconds,
            "timeout": timeout_s,
        }
        answer: dict[str, Any] = self._client.get("/wait", params=asked).raise_for_status().json()
        return answer

    def close(self) -> None:
        self._client.close()
