"""What every transcription provider promises: the ones that ship, and one from an installed package."""

import re
from collections.abc import Iterator
from datetime import date
from importlib import import_module
from typing import Any

import pytest

from harness import plugin
from sederunt.settings import ProviderSettings, Settings
from sederunt.transcription import models, plugins
from sederunt.transcription.access import Access
from sederunt.transcription.cloud.calls import VendorCall, joined
from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.cloud.reading import Unreadable
from sederunt.transcription.cloud.vendor import asked
from sederunt.transcription.languages import DETECT, primary_tag
from sederunt.transcription.provider import Provider
from sederunt.transcription.rows import Can
from sederunt.transcription.sessions import Terms

BUILT_IN = ("assemblyai", "deepgram", "elevenlabs", "gladia", "revai", "salad", "soniox", "speechmatics", "whisper")
PLUGGED = ("steno",)
ACCESS = Access(key="k-3141", label="the test's key", organisation="acme")
NAME = re.compile(r"[a-z0-9][a-z0-9./_-]*")


def forget() -> None:
    for each in [*vars(plugins).values(), *vars(models).values()]:
        if hasattr(each, "cache_clear"):
            each.cache_clear()


@pytest.fixture(scope="module")
def plugged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An installation that has the package besides; as it was afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(plugin.install(tmp_path_factory.mktemp("plugin")))
        forget()
        yield
    forget()


@pytest.fixture(params=[*BUILT_IN, *PLUGGED])
def provider(request: pytest.FixtureRequest, plugged: None) -> Provider:
    return plugins.provider(request.param)


@pytest.fixture(params=[*(name for name in BUILT_IN if name != "whisper"), *PLUGGED])
def cloud(request: pytest.FixtureRequest, plugged: None) -> CloudProvider:
    found = plugins.provider(request.param)
    assert isinstance(found, CloudProvider)
    return found


def test_exactly_these_introduce_themselves(plugged: None) -> None:
    assert set(plugins.installed_providers()) == {*BUILT_IN, *PLUGGED}


def test_its_rows_name_it(provider: Provider) -> None:
    row = provider.row
    assert NAME.fullmatch(row.name)
    assert row.title.strip()
    assert provider.models
    assert {model.provider for model in provider.models} == {row.name}


def test_its_models_can_be_asked_for_by_every_name(provider: Provider) -> None:
    for model in provider.models:
        assert all(NAME.fullmatch(name) for name in model.names)
        assert {models.find(name) for name in model.names} == {model}
        assert set(model.names) <= set(models.bot_models()) or not model.for_bots
        assert set(model.names) <= set(models.recording_models()) or not model.for_recordings
        assert model.for_bots or model.for_recordings


def test_its_languages_are_tags(provider: Provider) -> None:
    for model in provider.models:
        default = model.default_lang if model.default_lang not in DETECT else None
        assert all(
            primary_tag(tag) == tag.lower().partition("-")[0] for tag in [*(model.languages or ()), default] if tag
        )
        assert default is None or model.languages is None or default in model.languages


def test_its_prices_say_of_which_day_they_are(provider: Provider) -> None:
    for price in (model.price for model in provider.models if model.price):
        assert price.per_hour >= 0
        assert date.fromisoformat(price.as_of) <= date(2026, 12, 31)


def test_it_transcribes_live_where_its_rows_say_so(provider: Provider) -> None:
    live = [model for model in provider.models if model.realtime]
    assert (provider.realtime is not None) == bool(live)
    for model in live:
        assert provider.realtime is not None
        terms = provider.realtime.terms(model)
        assert isinstance(terms, Terms)
        assert terms.overlap_s <= terms.mixed_overlap_s
        assert provider.realtime.name == provider.row.name


def test_it_asks_for_a_key_exactly_where_it_needs_one(provider: Provider) -> None:
    assert (provider.account is not None) == provider.row.needs_key


def test_a_region_that_it_does_not_have_is_a_fault_told_before_anything_is_asked(cloud: CloudProvider) -> None:
    wrong = Settings(providers={cloud.row.name: ProviderSettings(region="atlantis")})
    for model in cloud.models:
        assert cloud.fault(Settings(), model) is None
        sentence = cloud.fault(wrong, model)
        assert sentence is not None
        assert "atlantis" in sentence


def test_the_key_is_in_a_header_and_nowhere_else(cloud: CloudProvider) -> None:
    assert any(ACCESS.key in value for value in cloud.vendor.headers(ACCESS).values())
    for call in (cloud.vendor.check(ACCESS), *cloud.vendor.erase(ACCESS, "copy-1")):
        assert ACCESS.key not in f"{call.path}{call.query}{call.json}{call.form}"


def test_the_check_of_a_key_changes_nothing(cloud: CloudProvider) -> None:
    call = cloud.vendor.check(ACCESS)
    assert isinstance(call, VendorCall)
    assert call.method == "GET"
    assert call.sound is None
    assert joined(cloud.row.url, call.path).startswith("https://")


def test_nothing_is_asked_of_a_model_that_it_cannot_do(cloud: CloudProvider) -> None:
    for model in cloud.models:
        ask = asked(model, ACCESS, lang=None, vocabulary=["Sederunt"], mask_profanity=True, mixed=True)
        assert bool(ask.vocabulary) == (Can.VOCABULARY in model.can)
        assert ask.mask_profanity == (Can.MASK_PROFANITY in model.can)
        assert ask.diarize == (Can.DIARIZE in model.can)


@pytest.mark.parametrize("answer", [{}, {"words": []}, {"items": [{"word": "Ask", "from": 0, "to": 1}]}])
def test_the_example_to_copy_takes_no_answer_that_it_cannot_read_for_silence(
    plugged: None, answer: dict[str, Any]
) -> None:
    parse = import_module("sederunt_roundtable.transcriber").parse
    assert parse({"items": []}).utterances == ()
    with pytest.raises(Unreadable):
        parse(answer)


def test_a_codec_of_a_stream_takes_any_message(cloud: CloudProvider) -> None:
    if cloud.vendor.live is None:
        assert not any(model.realtime for model in cloud.models)
        return
    model = next(model for model in cloud.models if model.realtime)
    codec = cloud.vendor.live.codec(asked(model, ACCESS, lang="en", vocabulary=[], mask_profanity=False, mixed=False))
    codec.opening()
    for odd in ("", "{}", "[]", "null", '"word"', "{", '{"type": 7}', b"\x00\xff", '{"message": {"message": []}}'):
        assert [told for told in codec.read(odd) if told is None] == []
    codec.closing()
