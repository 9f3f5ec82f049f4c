"""What was submitted and never answered: looked up page by page; where nobody can tell, sent once more, or not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from sederunt.errors import ProviderError, ProviderFault
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.assemblyai import requests as assemblyai
from sederunt.transcription.cloud.calls import VendorCall
from sederunt.transcription.cloud.client import Client, Manners
from sederunt.transcription.cloud.job import Find, Notes, Progress, VendorJob
from sederunt.transcription.cloud.reading import place, record
from sederunt.transcription.cloud.vendor import Ask, asked
from sederunt.transcription.deepgram import requests as deepgram
from sederunt.transcription.deepgram.vendor import VENDOR
from sederunt.transcription.gladia import requests as gladia
from sederunt.transcription.models import find
from sederunt.transcription.revai import requests as revai
from sederunt.transcription.salad import requests as salad
from sederunt.transcription.soniox import requests as soniox
from sederunt.transcription.speechmatics import requests as speechmatics

ACCESS = Access(key="secret-key", label="the operator's key", organisation="acme")
HEARD: dict[str, Any] = {"results": {"channels": []}}
SUBMIT = VendorCall(method="POST", path="/v1/jobs", json={})
LIST = VendorCall(method="GET", path="/v1/jobs")
OLDER = VendorCall(method="GET", path="/v1/jobs", query=[("page", "2")])


class Wire(httpx2.AsyncBaseTransport):
    """Answers requests one by one when they were sent whole, and keeps what was asked and noted."""

    def __init__(self, *answers: httpx2.Response | Exception, lost_answer: str = "repeat") -> None:
        self.left, self.asked, self.notes = list(answers), list[str](), dict[str, Any]()
        self.settings = Settings(transcription={"lost_answer": lost_answer})

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        async for _ in request.stream:
            pass
        self.asked.append(f"{request.method} {request.url.query.decode()}".strip())
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def run(self, deed: Callable[[VendorJob], Any]) -> Any:
        async with Client(VENDOR, self.settings, ACCESS, Manners(pause=_no_pause)) as client:
            await client._http.aclose()
            client._http = httpx2.AsyncClient(transport=self)
            return await deed(VendorJob(_ask(), Path(__file__), client, Notes(self.notes, self.notes.update)))


async def _no_pause(_seconds: float) -> None:
    """Wait for nothing."""


def _ask() -> Ask:
    row = find("vendor2")
    assert row is not None
    return asked(row, ACCESS, lang="en", vocabulary=(), mask_profanity=False, mixed=False)


def good(body: Any) -> httpx2.Response:
    return httpx2.Response(200, json=body)


def lost() -> Exception:
    return httpx2.ReadError("Connection reset by peer")


async def _heard(job: VendorJob) -> Any:
    def read(told: Any) -> Any:
        place(record(told), "results")
        return told

    return await job.hear(deepgram.listen(job.ask), read)


async def _submitted(job: VendorJob) -> Any:
    pages = Find(
        call=LIST,
        pick=lambda page: next((each for each in page["jobs"] if each["id"] == "ours"), None),
        older=lambda page: OLDER if page["more"] else None,
    )
    return await job.once("submit", SUBMIT, find=pages)


async def test_a_lost_transcript_is_asked_for_once_more_and_not_again() -> None:
    assert await Wire(lost(), good(HEARD)).run(_heard) == HEARD
    wire = Wire(lost(), httpx2.Response(503), lost(), good(HEARD))
    with pytest.raises(ProviderError, match="may have transcribed this and billed it to the operator's key") as told:
        await wire.run(_heard)
    assert (told.value.kind, told.value.retryable) == (ProviderFault.IN_DOUBT, False)
    assert len(wire.asked) == 3


@pytest.mark.parametrize("other", [{}, [], None, {"err_code": "INTERNAL", "err_msg": "out of breath"}])
async def test_an_answer_without_a_transcript_is_a_lost_one(other: Any) -> None:
    wire = Wire(good(other), good(HEARD))
    assert await wire.run(_heard) == HEARD
    wire = Wire(good(other), good(other), good(HEARD))
    with pytest.raises(ProviderError) as told:
        await wire.run(_heard)
    assert (told.value.kind, len(wire.asked)) == (ProviderFault.IN_DOUBT, 2)
    assert ("out of breath" in str(told.value)) is bool(other)


@pytest.mark.parametrize("other", [{}, [], None, {"error": "out of breath"}])
async def test_a_job_whose_answer_names_none_is_looked_up(other: Any) -> None:
    wire = Wire(good(other), good({"jobs": [{"id": "ours"}], "more": False}))
    assert await wire.run(_submitted) == "ours"
    nothing = good({"jobs": [], "more": False})
    assert await Wire(good(other), nothing, good({"id": "new"})).run(_submitted) == "new"


async def test_who_never_names_a_job_is_told_in_the_vendors_words() -> None:
    wire = Wire(*[good({"error": "out of breath"}), good({"jobs": [], "more": False})] * 9)
    with pytest.raises(ProviderError, match="named no id: out of breath") as told:
        await wire.run(_submitted)
    assert (told.value.retryable, wire.asked.count("POST")) == (False, 5)


async def test_where_the_operator_says_so_a_lost_transcript_ends_it() -> None:
    wire = Wire(lost(), good(HEARD), lost_answer="stop")
    with pytest.raises(ProviderError) as told:
        await wire.run(_heard)
    assert (told.value.kind, len(wire.asked)) == (ProviderFault.IN_DOUBT, 1)


@pytest.mark.parametrize("error", [httpx2.Response(500), httpx2.Response(429), httpx2.ConnectError("refused")])
async def test_an_error_or_no_connection_is_no_doubt(error: Any) -> None:
    assert await Wire(error, error, error, good(HEARD), lost_answer="stop").run(_heard) == HEARD


async def test_a_worker_that_was_killed_meanwhile_has_lost_the_answer() -> None:
    wire = Wire(good(HEARD), lost_answer="stop")
    wire.notes = {"begun": ["hear"]}
    with pytest.raises(ProviderError, match="the worker was stopped meanwhile"):
        await wire.run(_heard)
    assert wire.asked == []


async def test_a_job_is_found_on_a_later_page() -> None:
    pages = good({"jobs": [{"id": "other"}], "more": True}), good({"jobs": [{"id": "ours"}], "more": False})
    wire = Wire(lost(), *pages)
    assert await wire.run(_submitted) == "ours"
    assert wire.asked == ["POST", "GET", "GET page=2"]


async def test_a_listing_without_end_is_left() -> None:
    wire = Wire(lost(), *[good({"jobs": [], "more": True})] * 20, good({"id": "new"}))
    assert await wire.run(_submitted) == "new"


async def test_where_a_vendor_lists_nothing_a_job_is_sent_once_more() -> None:
    wire = Wire(lost(), httpx2.Response(404), good({"id": "new"}))
    assert await wire.run(_submitted) == "new"
    wire = Wire(lost(), httpx2.Response(404), lost(), httpx2.Response(404), good({"id": "new"}))
    with pytest.raises(ProviderError) as told:
        await wire.run(_submitted)
    assert told.value.kind is ProviderFault.IN_DOUBT


def _full(item: dict[str, str]) -> list[dict[str, str]]:
    return [item] * 100


@pytest.mark.parametrize(
    ("older", "page", "query"),
    [
        (
            assemblyai.older_transcripts,
            {"page_details": {"prev_url": "https://api/v2/transcript?limit=100&before_id=7"}},
            [("limit", "100"), ("before_id", "7")],
        ),
        (
            speechmatics.older_jobs,
            {"jobs": _full({"created_at": "2026-11-23T00:00:00Z"})},
            [("limit", "100"), ("created_before", "2026-11-23T00:00:00Z")],
        ),
        (
            lambda page: revai.older_jobs(revai.JOBS, page),
            _full({"id": "7"}),
            [("limit", "100"), ("starting_after", "7")],
        ),
        (soniox.older_transcriptions, {"next_page_cursor": "c7"}, [("limit", "100"), ("cursor", "c7")]),
        (gladia.older_jobs, {"next": "https://api/v2/pre-recorded?offset=100"}, [("offset", "100")]),
        (
            lambda page: salad.older_jobs(_ask(), page),
            {"items": _full({}), "page": 1, "page_size": 100},
            [("page", "2"), ("page_size", "100")],
        ),
    ],
)
def test_each_vendor_is_asked_for_what_is_older(older: Any, page: Any, query: Any) -> None:
    assert list(older(page).query) == query
    assert older({}) is None


@pytest.mark.parametrize(("lost_answer", "paid"), [("repeat", 2), ("stop", 1)])
async def test_a_job_that_the_vendor_does_not_know_any_more_is_paid_as_often_as_a_lost_answer(
    lost_answer: str, paid: int
) -> None:
    async def transcribe(job: VendorJob) -> Any:
        await job.once("job", SUBMIT)
        return await job.poll(LIST, lambda _told: Progress.DONE)

    wire = Wire(*[httpx2.Response(200, json={"id": "1"}), httpx2.Response(410)] * 9, lost_answer=lost_answer)
    kinds = []
    while ProviderFault.IN_DOUBT not in kinds:
        with pytest.raises(ProviderError) as told:
            await wire.run(transcribe)
        kinds.append(told.value.kind)
    assert wire.asked.count("POST") == paid
    assert kinds == [ProviderFault.TRANSIENT] * (paid - 1) + [ProviderFault.IN_DOUBT]


async def _polled(job: VendorJob) -> Any:
    find = Find(call=OLDER, pick=lambda page: next(iter(page["jobs"]), None))
    await job.once("submit", SUBMIT, find=find)
    return await job.poll(LIST, lambda told: Progress.DONE if told else Progress.RUNNING)


async def test_a_job_that_is_not_shown_at_once_is_asked_for_again() -> None:
    wire = Wire(good({"id": "1"}), *[httpx2.Response(404)] * 20, good({"id": "1"}))
    assert await wire.run(_polled) == {"id": "1"}
    assert wire.asked.count("POST") == 1


async def test_a_job_that_stays_unknown_is_looked_up_before_it_is_sent_again() -> None:
    wire = Wire(good({"id": "1"}), *[httpx2.Response(404)] * 99)
    with pytest.raises(ProviderError, match="the job is gone"):
        await wire.run(_polled)
    wire.left = [good({"jobs": [{"id": "1"}]}), good({"id": "1"})]
    assert await wire.run(_polled) == {"id": "1"}
    assert wire.asked.count("POST") == 1


DELETED = [
    httpx2.Response(200, text="OK"),
    httpx2.Response(202, text="202: Accepted"),
    httpx2.Response(200, json="deleted"),
    httpx2.Response(204),
    httpx2.Response(200, text="<html>deleted</html>"),
    httpx2.Response(404, text="no such job"),
]


@pytest.mark.parametrize("answer", DELETED, ids=lambda answer: answer.text or "nothing")
async def test_what_a_vendor_says_to_a_deletion_that_it_did_does_not_matter(answer: httpx2.Response) -> None:
    wire = Wire(*[answer] * 5)
    await wire.run(lambda job: job._client.erase(VendorCall(method="DELETE", path="/v1/jobs/1")))
    assert wire.asked == ["DELETE"]


async def test_a_text_in_json_is_an_answer_and_one_without_json_is_none() -> None:
    assert await Wire(httpx2.Response(200, json="ready")).run(lambda job: job._client.fetch(LIST)) == "ready"
    with pytest.raises(ProviderError, match="its answer is no JSON"):
        await Wire(*[httpx2.Response(200, text="ready")] * 5).run(lambda job: job._client.fetch(LIST))
