"""The table of models against the interface's own lists."""

import pytest

from sederunt.errors import SetupError
from sederunt.transcription import models
from sederunt.transcription.models import Can

# Copied from the interface, in its order.
BOT_VALUES = [
    "none",
    "vendor1",
    "vendor3-realtime",
    "vendor2",
    "vendor2-v3",
    "vendor3",
    "vendor4",
    "vendor5",
    "vendor6",
    "vendor6-v2",
    "vendor2-realtime",
    "vendor2-realtime-v3",
    "vendor4-realtime",
    "vendor7",
    "vendor7-realtime",
    "vendor8",
    "vendor8-realtime",
    "vendor9",
]
RECORDING_VALUES = [
    "vendor1",
    "vendor2",
    "vendor3",
    "vendor4",
    "vendor5",
    "vendor6",
    "vendor6-v2",
    "vendor7",
    "vendor8",
    "vendor9",
]
# Ours: the model in the box live, and with another quality. A vendor that is added to those of the interface goes here.
BEYOND_THE_INTERFACE = {
    "vendor1-realtime",
    "vendor1-fast",
    "vendor1-best",
    "vendor4-standard",
    "vendor4-realtime-standard",
}


def test_every_bot_value_of_the_interface_is_in_the_table_and_our_extensions_beside_them() -> None:
    mine = {row.identifier for row in models.models() if row.for_bots}
    assert mine == {*BOT_VALUES, *BEYOND_THE_INTERFACE}, "a model of ours has its name in BEYOND_THE_INTERFACE above"
    assert len(BOT_VALUES) == 18


def test_recordings_take_the_interfaces_values_and_those_of_quality() -> None:
    mine = {row.identifier for row in models.models() if row.for_recordings}
    assert mine - BEYOND_THE_INTERFACE == set(RECORDING_VALUES), (
        "a model of ours has its name in BEYOND_THE_INTERFACE above"
    )
    assert mine >= {"vendor1-fast", "vendor1-best"}
    assert not any(row.realtime for row in models.models() if row.for_recordings)


@pytest.mark.parametrize("row", models.models(), ids=lambda row: row.identifier)
def test_a_row_is_found_by_each_of_its_names(row: models.ModelRow) -> None:
    for name in (row.identifier, *row.aliases):
        assert models.find(name) == row
        assert name in models.bot_models()
        assert (name in models.recording_models()) == row.for_recordings


def test_names_are_unique() -> None:
    names = [name for row in models.models() for name in (row.identifier, *row.aliases)]
    assert len(names) == len(set(names))


def test_an_unknown_name_is_nobody() -> None:
    assert models.find("vendor0") is None
    assert models.find("Whisper") is None


@pytest.mark.parametrize(
    ("alias", "identifier"),
    [
        ("whisper", "vendor1"),
        ("whisper-realtime", "vendor1-realtime"),
        ("deepgram-v3", "vendor2-v3"),
        ("assembly-ai-realtime", "vendor3-realtime"),
        ("rev-ai", "vendor5"),
        ("salad", "vendor9"),
    ],
)
def test_plain_names_stand_for_the_fixed_ordinals(alias: str, identifier: str) -> None:
    row = models.find(alias)
    assert row is not None
    assert row.identifier == identifier


def test_a_realtime_suffix_and_the_flag_agree() -> None:
    for row in models.models():
        assert row.realtime == ("-realtime" in row.identifier)


def test_only_the_model_in_the_box_needs_no_key() -> None:
    assert [name for name, row in models.providers().items() if not row.needs_key] == ["whisper"]


def test_the_missing_key_sentence_names_the_provider_and_both_remedies() -> None:
    sentence = models.missing_key(models.providers()["assemblyai"])
    assert "AssemblyAI" in sentence
    assert "sederunt credentials add assemblyai" in sentence
    assert "SEDERUNT_PROVIDERS__ASSEMBLYAI__KEY" in sentence


def test_every_provider_of_the_table_has_a_row() -> None:
    assert {row.provider for row in models.models() if row.provider} == set(models.providers())
    assert models.provider_of(models.models()[0]) is None


def test_whisper_masks_nothing_itself() -> None:
    row = models.find("whisper")
    assert row is not None
    assert Can.MASK_PROFANITY not in row.can
    assert Can.VOCABULARY in row.can


def test_a_realtime_model_has_a_batch_twin_of_its_own_provider() -> None:
    for row in models.models():
        twin = models.batch_twin(row)
        assert not twin.realtime
        assert twin.provider == row.provider
    v3 = models.find("deepgram-realtime-v3")
    assert v3 is not None
    assert models.batch_twin(v3).identifier == "vendor2-v3"


def test_a_setting_of_models_to_go_on_with_is_checked_before_work_begins() -> None:
    models.check_fallback(("deepgram/nova-2", "whisper"))
    with pytest.raises(SetupError, match=r"SEDERUNT_TRANSCRIPTION__FALLBACK names 'vendor2-realtime', 'whispr', "):
        models.check_fallback(("whispr", "whisper", "vendor2-realtime"))


@pytest.mark.parametrize("kind", ["batch", "realtime"])
@pytest.mark.parametrize("quality", ["standard", "enhanced"])
def test_a_name_of_speechmatics_means_the_quality_that_it_names(kind: str, quality: str) -> None:
    row = models.find(f"speechmatics/{kind}-{quality}")
    assert row is not None
    assert (row.vendor_model, row.realtime) == (quality, kind == "realtime")
    assert models.batch_twin(row).vendor_model == quality
