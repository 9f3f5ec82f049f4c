"""Build requests to Deepgram: one path for files and streams, with all options in the query. Pure."""

from __future__ import annotations

from urllib.parse import urlencode

from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import Sound, VendorCall
from sederunt.transcription.cloud.vendor import Ask
from sederunt.transcription.deepgram.rows import MOST_KEYWORDS, NOVA_3, VARIANTS
from sederunt.transcription.languages import primary_tag

PATH = "/v1/listen"
Query = list[tuple[str, str]]


def headers(access: Access) -> dict[str, str]:
    """Return the headers. Keys use the scheme "Token"; "Bearer" is for short-lived tokens only."""
    return {"authorization": f"Token {access.key}"}


def check(_access: Access) -> VendorCall:
    """List the projects of the key: free, and refused (401) without a valid key. A key that may only transcribe gets
    403: the list needs the scope project:read.
    """
    return VendorCall(method="GET", path="/v1/projects", answering_refusals=frozenset({(403, None)}))


def listen(ask: Ask) -> VendorCall:
    """Send a file: its sound is the body, the transcript is the answer."""
    query = [*_common(ask), *_file_language(ask), ("tag", ask.reference)]
    return VendorCall(
        method="POST",
        path=PATH,
        query=query,
        headers={"content-type": ask.media_type},
        sound=Sound(),
        answers_late=True,
    )


def stream(ask: Ask) -> str:
    """Return the path of a stream's socket."""
    query = [
        *_common(ask),
        ("language", _tag(ask.lang) or "multi"),
        ("encoding", "linear16"),
        ("sample_rate", "16000"),
        ("channels", "1"),
        ("interim_results", "true"),
        ("vad_events", "true"),
        ("endpointing", "300"),
        ("utterance_end_ms", "1000"),
    ]
    return f"{PATH}?{urlencode(query)}"


def _common(ask: Ask) -> Query:
    query = [("model", ask.model.vendor_model), ("punctuate", "true"), ("smart_format", "true")]
    if ask.diarize:
        query.append(("diarize_model", "latest"))
    if ask.mask_profanity:
        query.append(("profanity_filter", "true"))
    # Each vendor model takes one of the two parameters; it rejects or ignores the other.
    if ask.model.vendor_model == NOVA_3:
        return query + [("keyterm", term) for term in ask.vocabulary]
    # Phrases are split into words; a colon would begin the weight of a word.
    words = dict.fromkeys(word for term in ask.vocabulary for word in term.replace(":", " ").split())
    return query + [("keywords", word) for word in list(words)[:MOST_KEYWORDS]]


def _file_language(ask: Ask) -> Query:
    if tag := _tag(ask.lang):
        return [("language", tag)]
    if ask.several_languages and ask.model.vendor_model == NOVA_3:
        return [("language", "multi")]
    return [("detect_language", "true")]


def _tag(lang: str | None) -> str | None:
    """Return a tag that Deepgram takes: "fr" for "fr-FR", but "pt-BR" unchanged; None to detect the language.

    "multi" is the default of streams.
    """
    if lang is None or lang == "multi":
        return lang
    return VARIANTS.get(lang.replace("_", "-").lower()) or primary_tag(lang)
