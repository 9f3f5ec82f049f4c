"""Build requests to SaladCloud: upload a file to its storage, then submit a job with the file's URL. Pure."""

from __future__ import annotations

import re
from typing import Any

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall
from sederunt.transcription.cloud.reading import number, record, records
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.languages import primary_tag

STORAGE = "https://storage-api.salad.com"  # unless the settings name one address for everything
SIGNED_S = 24 * 3600  # how long the file's URL is valid: longer than the longest queue
LISTED = 100  # jobs in a page of a listing, newest first
THREE_LETTERS = frozenset({"haw", "yue"})


def headers(access: Access) -> dict[str, str]:
    """Return the header with the key."""
    return {"salad-api-key": access.key}


def check(access: Access) -> VendorCall:
    """Fetch the transcription endpoint: free, and refused without a valid key for the organisation."""
    return VendorCall(method="GET", path=_endpoint(access, "transcribe"))


def file_name(ask: Ask) -> str:
    """Return the name of our file in storage: the same for every attempt."""
    suffix = ask.file_name.rpartition(".")[2]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '-', ask.reference) or 'sound'}.{suffix}"


def upload(ask: Ask) -> VendorCall:
    """Upload the file to storage; the answer has a URL that needs no key."""
    return VendorCall(
        method="PUT",
        path=_file(ask.access, file_name(ask)),
        root=STORAGE,
        headers={"content-type": ask.media_type},
        form=[("mimeType", ask.media_type), ("sign", "true"), ("signatureExp", str(SIGNED_S))],
        sound=Sound(part="file"),
    )


def submit(ask: Ask, url: str) -> VendorCall:
    """Submit the file at a URL for transcription."""
    payload: dict[str, Any] = {
        "url": url,
        "word_level_timestamps": True,
        "sentence_level_timestamps": True,
        "diarization": ask.diarize,
        "sentence_diarization": ask.diarize,
    }
    if tag := _language(ask.lang):
        payload["language_code"] = tag
    if ask.vocabulary:
        payload["custom_vocabulary"] = ", ".join(ask.vocabulary)
    return VendorCall(
        method="POST",
        path=f"{_endpoint(ask.access, ask.model.vendor_model)}/jobs",
        json={"input": payload, "metadata": {"reference": ask.reference}},
    )


def jobs(ask: Ask, page: int = 1) -> VendorCall:
    """List the newest jobs."""
    query = [("page", str(page)), ("page_size", str(LISTED))]
    return VendorCall(method="GET", path=f"{_endpoint(ask.access, ask.model.vendor_model)}/jobs", query=query)


def older_jobs(ask: Ask, listing: Any) -> VendorCall | None:
    """List the jobs older than those of a page; a page that is not full is the last."""
    page = record(listing)
    is_full = len(records(page.get("items"))) >= number(page.get("page_size"), LISTED)
    return jobs(ask, int(number(page.get("page"), 1)) + 1) if is_full else None


def job(ask: Ask, job_id: str) -> VendorCall:
    """Fetch the state of a job."""
    return VendorCall(method="GET", path=f"{_endpoint(ask.access, ask.model.vendor_model)}/jobs/{job_id}")


def answer(url: str) -> VendorCall:
    """Fetch a transcript that was too large for the job's own answer."""
    return VendorCall(method="GET", path=url)


def delete(access: Access, name: str) -> tuple[VendorCall, ...]:
    """Delete our file from storage, or a job, which is named by its path; a running job is stopped."""
    if name.startswith("/"):
        return (VendorCall(method="DELETE", path=name),)
    return (VendorCall(method="DELETE", path=_file(access, name), root=STORAGE),)


def _language(lang: str | None) -> str | None:
    """Return a language code that SaladCloud knows, or None: a wrong one causes a translation."""
    tag = primary_tag(lang)
    return tag if tag is not None and (len(tag) == 2 or tag in THREE_LETTERS) else None


def _endpoint(access: Access, model: str) -> str:
    return f"/api/public/organizations/{access.organisation or ''}/inference-endpoints/{model}"


def _file(access: Access, name: str) -> str:
    return f"/organizations/{access.organisation or ''}/files/{name}"
