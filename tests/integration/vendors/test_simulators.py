"""The simulated vendors refuse what the real ones refuse, and fail as they are told to."""

import json

import httpx2
import pytest

from harness.vendors.catalogue import VENDORS, vendors_process
from harness.vendors.deepgram import Deepgram
from sederunt.practice.clips import SHIPPED

CLIENT = httpx2.Client(timeout=60)  # to make one costs a tenth of a second
JFK = (SHIPPED / "jfk.wav").read_bytes()
TOKEN = {"Authorization": "Token practice-key-of-deepgram"}


def listen(vendor: Deepgram, query: str = "model=nova-3&punctuate=true", **headers: str) -> httpx2.Response:
    return CLIENT.post(f"{vendor.url}/v1/listen?{query}", content=JFK, headers={**TOKEN, **headers})


def test_a_vendor_answers_from_what_it_heard_and_bills_it_once() -> None:
    with Deepgram() as vendor:
        answer = listen(vendor, "model=nova-3&punctuate=true&multichannel=true").json()
        assert "country" in answer["results"]["channels"][0]["alternatives"][0]["transcript"]
        assert vendor.ledger.seconds_billed == pytest.approx(11, abs=0.1)
        assert vendor.ledger.refusals == []


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [
        ("model=nova-3&unheard_of=1", {}, 400),
        ("model=nova-2&keyterm=Sederunt", {}, 400),
        ("model=nova-3", {"Authorization": "Bearer practice-key-of-deepgram"}, 401),
        ("model=nova-3", {"Authorization": "Token another"}, 401),
    ],
)
def test_strange_requests_are_refused_and_noted(query: str, headers: dict[str, str], status: int) -> None:
    with Deepgram() as vendor:
        assert listen(vendor, query, **headers).status_code == status
        assert len(vendor.ledger.refusals) == 1
        assert not vendor.ledger.billed


def test_answers_fail_as_they_are_told_to_and_then_no_more() -> None:
    with Deepgram() as vendor:
        vendor.fault("status", status=429, retry_after="7")
        refused = listen(vendor)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
        vendor.fault("html")
        assert "<html>" in listen(vendor).text
        vendor.fault("bad_json")
        with pytest.raises(json.JSONDecodeError):
            listen(vendor).json()
        for kind in ("drop", "lost", "half_body"):
            vendor.fault(kind)
            with pytest.raises(httpx2.TransportError):
                listen(vendor)
        assert len(vendor.ledger.billed) == 3  # bad_json, lost, half_body: the work was done
        assert listen(vendor).status_code == 200


def test_a_process_of_its_own_is_steered_over_http() -> None:
    with vendors_process("deepgram") as vendors:
        vendor = vendors["deepgram"]
        vendor.fault("status", status=503)
        for expected in (503, 200):
            answer = CLIENT.post(f"{vendor.url}/v1/listen?model=nova-2", content=JFK, headers=TOKEN)
            assert answer.status_code == expected
        assert len(vendor.wait("submit", count=2)["billed"]) == 1


def test_every_vendor_is_named_as_the_service_names_it() -> None:
    assert all(name == kind.name for name, kind in VENDORS.items())
