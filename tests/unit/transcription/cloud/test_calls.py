"""Addresses put together, and where a vendor is."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from sederunt.errors import SetupError
from sederunt.settings import Settings
from sederunt.transcription.access import Access
from sederunt.transcription.assemblyai import requests as assemblyai
from sederunt.transcription.cloud.addresses import rest_address, same_origin, socket_address
from sederunt.transcription.cloud.calls import VendorCall, joined
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.cloud.vendor import Ask, asked
from sederunt.transcription.deepgram import requests as deepgram
from sederunt.transcription.deepgram.rows import PROVIDER_ROW
from sederunt.transcription.elevenlabs import requests as elevenlabs
from sederunt.transcription.gladia import requests as gladia
from sederunt.transcription.models import providers
from sederunt.transcription.plugins import provider
from sederunt.transcription.revai import requests as revai
from sederunt.transcription.salad import requests as salad
from sederunt.transcription.soniox import requests as soniox
from sederunt.transcription.speechmatics import requests as speechmatics

ACCESS = Access(key="k", label="the test's key", organisation="acme")
# Every request of a vendor.
CALLS: Mapping[str, Callable[[Ask], Iterable[VendorCall]]] = {
    "assemblyai": lambda ask: (
        assemblyai.check(ACCESS),
        assemblyai.upload(ask),
        assemblyai.transcribe(ask, "u"),
        assemblyai.transcripts(),
        assemblyai.transcript("1"),
        *assemblyai.delete(ACCESS, "1"),
    ),
    "deepgram": lambda ask: (deepgram.check(ACCESS), deepgram.listen(ask)),
    "elevenlabs": lambda ask: (
        elevenlabs.check(ACCESS),
        elevenlabs.transcribe(ask),
        *elevenlabs.delete(ACCESS, "1"),
    ),
    "gladia": lambda ask: (
        gladia.check(ACCESS),
        gladia.upload(ask),
        gladia.submit(ask, "u"),
        gladia.jobs(),
        gladia.job("1"),
        *gladia.delete(ACCESS, "1"),
        gladia.begin(ask),
    ),
    "revai": lambda ask: (
        revai.check(ACCESS),
        revai.submit(ask, None),
        revai.find_language(ask),
        revai.jobs(revai.JOBS),
        revai.job(revai.LANGUAGE_JOBS, "1"),
        revai.transcript("1"),
        revai.language("1"),
        *revai.delete(ACCESS, f"{revai.LANGUAGE_JOBS}/1"),
    ),
    "salad": lambda ask: (
        salad.check(ACCESS),
        salad.upload(ask),
        salad.submit(ask, "u"),
        salad.jobs(ask),
        salad.job(ask, "1"),
        *salad.delete(ACCESS, salad.job(ask, "1").path),
        *salad.delete(ACCESS, "sound.ogg"),
    ),
    "soniox": lambda ask: (
        soniox.check(ACCESS),
        soniox.upload(ask),
        soniox.transcribe(ask, "1"),
        soniox.transcriptions(),
        soniox.transcription("1"),
        soniox.transcript("1"),
        *soniox.delete(ACCESS, f"{soniox.FILES}/1"),
    ),
    "speechmatics": lambda ask: (
        speechmatics.check(ACCESS),
        speechmatics.submit(ask),
        speechmatics.jobs(),
        speechmatics.job("1"),
        speechmatics.transcript("1"),
        *speechmatics.delete(ACCESS, "1"),
    ),
}


@pytest.mark.parametrize(
    ("base", "path", "address"),
    [
        ("https://host", "/v1/files", "https://host/v1/files"),
        ("https://host/", "/v1/files", "https://host/v1/files"),
        ("https://host/v1", "/v1/files", "https://host/v1/v1/files"),
        ("https://host/proxy", "/v1/files?limit=1", "https://host/proxy/v1/files?limit=1"),
        ("https://host", "https://files.elsewhere/x?signed=1", "https://files.elsewhere/x?signed=1"),
    ],
)
def test_a_path_follows_its_root(base: str, path: str, address: str) -> None:
    assert joined(base, path) == address


@pytest.mark.parametrize(
    ("root", "path", "address"),
    [
        ("https://host/v1", "/v1/minutes?x=/v1", "https://host/v1/minutes?x=/v1"),
        ("https://host/proxy/v1/", "/v1/minutes", "https://host/proxy/v1/minutes"),
        ("https://host/api/v1", "/api/v1/minutes", "https://host/api/v1/minutes"),
        ("https://host/xv1", "/v1/minutes", "https://host/xv1/v1/minutes"),
        ("https://v1", "/v1/minutes", "https://v1/v1/minutes"),
        ("https://host", "/v1/minutes", "https://host/v1/minutes"),
    ],
)
def test_where_nobody_says_how_paths_begin_an_address_may_end_as_one_does(root: str, path: str, address: str) -> None:
    """Plug-ins of before have no such row."""
    assert joined(root, path, may_overlap=True) == address


def test_every_vendor_that_ships_has_its_requests_here() -> None:
    assert {row.name for row in providers().values() if row.needs_key} == set(CALLS)


def cloud(name: str) -> CloudProvider:
    found = provider(name)
    assert isinstance(found, CloudProvider)
    return found


def addresses(name: str, **given: str) -> list[str]:
    """Where every request of a vendor and its socket go, as the settings have it."""
    plug, settings = cloud(name), Settings(providers={name: given})
    ask = asked(plug.models[0], ACCESS, lang="en", vocabulary=(), mask_profanity=False, mixed=False)
    found = []
    if "url" in given:
        root = rest_address(settings, plug.row, None)
        found += [joined(root, call.path) for call in CALLS[name](ask)]
    if plug.vendor.live is not None and plug.vendor.live.path is not None:
        found.append(joined(socket_address(settings, plug.row, None), plug.vendor.live.path(ask)))
    return found


@pytest.mark.parametrize("base", ["://host:9", "://host/proxy/deepgram", "://host/v", "://v1"])
@pytest.mark.parametrize("name", CALLS)
def test_an_address_may_hold_the_beginning_of_any_path(name: str, base: str) -> None:
    row = cloud(name).row
    plain, socket = addresses(name, url=f"http{base}"), addresses(name, socket_url=f"ws{base}")
    assert all(address.startswith((f"http{base}/", f"ws{base}/")) for address in plain + socket)
    assert len(row.beginnings) >= 2
    for known in row.beginnings:
        for slash in ("", "/"):
            assert addresses(name, url=f"http{base}{known}{slash}") == plain
            assert addresses(name, socket_url=f"ws{base}{known}{slash}") == socket


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("soniox", "http://h/v1", "ws://h/transcribe-websocket"),
        ("assemblyai", "http://h/v2", "ws://h/v3/ws"),
        ("revai", "http://h/speechtotext/v1", "http://h/languageid/v1/jobs"),
        ("salad", "http://h/api/public", "http://h/organizations/acme/files/sound.ogg"),
        ("speechmatics", "http://h/v2/", "ws://h/v2"),
        ("deepgram", "http://h/v1/listen", "http://h/v1/projects"),
        ("deepgram", "http://h/v1/v1", "http://h/v1/v1/listen"),  # a proxy's own /v1 stays
        ("deepgram", "http://h/listen", "http://h/listen/v1/listen"),
    ],
)
def test_where_requests_go(name: str, given: str, wanted: str) -> None:
    assert wanted in [address.partition("?")[0] for address in addresses(name, url=given)]


@pytest.mark.parametrize("name", CALLS)
def test_each_vendors_row_knows_where_its_paths_begin(name: str) -> None:
    for address in addresses(name, url="http://h"):
        path: Any = address.partition("//h")[2]
        assert path.startswith(cloud(name).row.paths), path


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"socket_url": "http://h:9"}, "ws://h:9"),
        ({"socket_url": "https://h/v1/listen"}, "wss://h"),
        ({"socket_url": "HTTPS://h"}, "wss://h"),
        ({"socket_url": "WSS://h"}, "wss://h"),
        ({"url": "HTTP://h:9/v1"}, "ws://h:9"),
        ({"url": "https://h"}, "wss://h"),
    ],
)
def test_a_socket_has_its_own_scheme(given: dict[str, str], wanted: str) -> None:
    assert socket_address(Settings(providers={"deepgram": given}), PROVIDER_ROW, None) == wanted


@pytest.mark.parametrize(
    "address", ["h:9", "localhost:8080/v1", "h", "//h", "ftp://u:p4ss@h", "http://", "http://h:x", "http://[h"]
)
def test_what_is_no_address_is_a_fault_that_names_the_setting(address: str) -> None:
    plug = cloud("deepgram")
    model = next(row for row in plug.models if row.realtime)
    assert plug.realtime is not None
    for name in ("url", "socket_url"):
        wrong = Settings(providers={"deepgram": {name: address}})
        told = [plug.fault(wrong, model), plug.realtime.fault(wrong, model)]
        sentences = [sentence for sentence in told if sentence]
        assert len(sentences) == (2 if name == "url" else 1)
        for sentence in sentences:
            assert f"SEDERUNT_PROVIDERS__DEEPGRAM__{name.upper()} " in sentence
            assert "://" in sentence
            assert "p4ss" not in sentence, "callers read this"


def test_requests_do_not_go_to_a_socket() -> None:
    wrong = Settings(providers={"deepgram": {"url": "ws://h"}})
    with pytest.raises(SetupError, match="DEEPGRAM__URL has to begin with http:// or https://"):
        rest_address(wrong, PROVIDER_ROW, None)


def test_a_key_goes_to_its_own_vendor_only() -> None:
    assert same_origin("https://host/v1/x", "https://host")
    assert not same_origin("https://host:444/x", "https://host")
    assert not same_origin("http://host/x", "https://host")


def test_the_settings_decide_then_the_region_then_the_row() -> None:
    row, plain = PROVIDER_ROW, Settings()
    assert rest_address(plain, row, None) == "https://api.deepgram.com"
    assert rest_address(plain, row, "eu") == "https://api.eu.deepgram.com"
    assert socket_address(plain, row, "eu") == "wss://api.eu.deepgram.com"
    given = Settings(providers={"deepgram": {"url": "http://127.0.0.1:9"}})
    assert rest_address(given, row, "eu") == "http://127.0.0.1:9"
    assert socket_address(given, row, None) == "ws://127.0.0.1:9"  # never the real vendor beside a simulated one
    with pytest.raises(SetupError, match=r"no region 'mars'.*known: eu, au, in"):
        rest_address(plain, row, "mars")
