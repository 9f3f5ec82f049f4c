"""What callers may send: every value and limit of the interface, and a sentence that names the field for the rest."""

import base64
from dataclasses import fields
from typing import Any
from uuid import UUID

import pytest

from harness.fake_clock import FakeClock
from sederunt.api.schemas.faults import read
from sederunt.api.schemas.requests import (
    CONVERTED,
    BotFields,
    RecordingFields,
    changed_config,
    new_config,
    recording_config,
    settings_of_source,
    start_of,
)
from sederunt.api.schemas.values import address_in, meeting_url_of
from sederunt.model.bot import Authentication, BotConfig, StopOptions
from sederunt.platforms.registry import services

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
# As listed in the interface, which this test does not take from our own table.
LAW_BOT_MODELS = (
    "none", "vendor1", "vendor3-realtime", "vendor2", "vendor2-v3", "vendor3", "vendor4", "vendor5", "vendor6",
    "vendor6-v2", "vendor2-realtime", "vendor2-realtime-v3", "vendor4-realtime", "vendor7", "vendor7-realtime",
    "vendor8", "vendor8-realtime", "vendor9",
)  # fmt: skip
LAW_RECORDING_MODELS = (
    "vendor1", "vendor2", "vendor3", "vendor4", "vendor5", "vendor6", "vendor6-v2", "vendor7", "vendor8", "vendor9",
)  # fmt: skip

Body = dict[str, Any]


def faults_of(body: Body) -> dict[str, list[str]]:
    return read(BotFields, body).faults


def config_of(body: Body) -> BotConfig:
    found = read(BotFields, body)
    assert found.faults == {}
    return new_config(found.fields)


@pytest.mark.parametrize("model", LAW_BOT_MODELS)
def test_every_bot_model_of_the_interface_is_taken(good_bot: Body, model: str) -> None:
    assert config_of({**good_bot, "transcription_model": model}).transcription_model == model


@pytest.mark.parametrize("model", LAW_RECORDING_MODELS)
def test_every_recording_model_of_the_interface_is_taken(model: str) -> None:
    assert read(RecordingFields, {"transcription_model": model}).faults == {}


@pytest.mark.parametrize("name", ["transcription_model", "service", "meeting_url", "bot_name"])
@pytest.mark.parametrize("sent", [True, False])
def test_a_required_field_that_is_absent_or_null_is_named(good_bot: Body, name: str, sent: bool) -> None:
    del good_bot[name]
    faults = faults_of({**good_bot, **({name: None} if sent else {})})
    assert faults == {name: [f"{name} is required."]}


def test_an_unknown_model_is_answered_with_the_names_of_the_documentation(good_bot: Body) -> None:
    sent = {**good_bot, "transcription_model": "gpt", "transcription_fallback": ["gpt"]}
    for field, (told,) in faults_of(sent).items():
        listed = told.removeprefix(f"{field} must be one of: ").removesuffix(".").split(", ")
        assert {"vendor1", "whisper", "deepgram-v3"} <= set(listed)
        assert [name for name in listed if "/" in name] == []
    assert faults_of({**good_bot, "transcription_model": "openai/whisper-large-v3"}) == {}


@pytest.mark.parametrize(
    ("entries", "told"),
    [
        (["a", 5], "must be an array of strings; entry 1 is no string."),
        ([" "], "must have entries of 1 to 100 characters; entry 0 is empty."),
        (["a", "b" * 101], "must have entries of 1 to 100 characters; entry 1 is longer."),
    ],
)
def test_a_word_that_is_not_taken_is_named_with_what_is_wrong(good_bot: Body, entries: list[object], told: str) -> None:
    assert faults_of({**good_bot, "custom_vocabulary": entries}) == {"custom_vocabulary": [f"custom_vocabulary {told}"]}


def test_all_faults_are_told_at_once_in_the_order_of_the_fields() -> None:
    faults = faults_of({"service": "skype", "video": "yes", "stop_options": {"time_limit": 241}, "bot_name": "B"})
    assert list(faults) == ["transcription_model", "service", "meeting_url", "video", "stop_options.time_limit"]
    assert faults["service"] == [f"service must be one of: {', '.join(services())}."]
    assert faults["stop_options.time_limit"] == ["stop_options.time_limit must be between 5 and 240."]


BARE = "https://zoom.us/j/123456789"


def test_a_meeting_without_a_scheme_or_told_in_words_is_taken(good_bot: Body) -> None:
    for text, shown in (
        ("meet.google.com/abc-defg-hij", "https://meet.google.com/abc-defg-hij"),
        ("Meeting ID: 316 652 780 345 55 Passcode: aB3cD4", "Meeting ID: 316 652 780 345 55 Passcode: aB3cD4"),
    ):
        assert config_of({**good_bot, "meeting_url": text}).meeting_url == text
        assert address_in(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        f"{BARE}?pwd=a.1",
        f"{BARE} (Passcode: 864210)",
        f"Ada invites you.\n\nJoin:\t<{BARE}>\nPasscode: 864210\n",
        f"{BARE}\n",
        f"\u200b{BARE}\xa0",
        f"({BARE}).",
        f"'{BARE}'!",
        f'[{BARE}"]',
    ],
)
def test_a_meeting_address_may_come_with_the_words_around_it(good_bot: Body, text: str) -> None:
    assert config_of({**good_bot, "meeting_url": text}).meeting_url == text
    assert address_in(text) == (text if text.endswith("pwd=a.1") else BARE)


@pytest.mark.parametrize(
    "text",
    [
        '{"url":"https://zoom.us/j/123456789?pwd=abc","topic":"Weekly"}',
        'x,"https://zoom.us/j/123456789?pwd=abc","b"',
        '<a href="https://zoom.us/j/123456789?pwd=abc"target=_blank>',
    ],
)
def test_an_address_ends_with_the_quotation_mark_around_it(text: str) -> None:
    assert address_in(meeting_url_of(text)) == "https://zoom.us/j/123456789?pwd=abc"


@pytest.mark.parametrize("around", ["{}", "Join <{}>.", "({})", '"{}"', "'{}',", "{}:"])
def test_what_a_tool_decoded_in_an_address_is_encoded_and_kept_to_its_end(around: str) -> None:
    decoded, encoded = f'{BARE}?c={{"a":["(b)"]}}', f"{BARE}?c=%7B%22a%22:[%22(b)%22]%7D"
    assert address_in(meeting_url_of(around.replace("{}", decoded))) == encoded
    assert address_in(f"{BARE}|^`") == f"{BARE}%7C%5E%60"


@pytest.mark.parametrize(
    "text",
    [
        "Meeting ID: 123 456 789",
        "zoom.us/j/123456789 Passcode: 864210",
        f"javascript://{BARE}",
        f"{BARE}\x01 (Passcode: 864210)",
        "https://zoom.us/j/123\\456 (Passcode: 864210)",
        "https://[zoom.us/j/123456789 (Passcode: 864210)",
    ],
)
def test_words_without_a_proper_address_are_no_meeting(good_bot: Body, text: str) -> None:
    predicate = "must be an absolute URL that begins with http:// or https://"
    assert faults_of({**good_bot, "meeting_url": text}) == {"meeting_url": [f"meeting_url {predicate}."]}


@pytest.mark.parametrize("body", [None, [], "bot", 7, True, [{"bot_name": "B"}]])
def test_a_body_that_is_no_object_has_one_fault(body: object) -> None:
    assert read(BotFields, body).faults == {"body": ["The body must be a JSON object."]}


def test_unknown_fields_are_ignored(good_bot: Body) -> None:
    config_of({**good_bot, "client": "js-sdk", "client_version": "0.5.5", "__class__": {}, "": 1, "id": 7})


VALUES: list[tuple[str, list[Any], list[Any]]] = [  # field, values that are taken, values that are not
    ("bot_name", ["B", "名" * 1000, " padded "], ["", "   ", "x" * 1001, 7, ["B"], "a\x00b", "\ud800"]),
    ("video", [True, False], ["true", 1, 0, []]),
    ("realtime_audio", [True, False], ["true", 1]),
    ("profanity_filter", [True, False], ["no", {}]),
    ("store_recording_for_1_year", [True, False], ["no", 1.0]),
    (
        "lang",
        ["en", "EN", "pt-BR", "zh-Hans-CN", "multi", "auto", "xx", None],
        ["", "e", "english", "en_US", 7, "en\n", "en-", "-en"],
    ),
    (
        "webhook_url",
        ["https://a.example/x?y=1&y=2#z", "http://10.0.0.1:8080/", "https://[2001:db8::1]/", None],
        ["", "a.example/x", "ftp://a.example/", "https://", "https://a b/", "//a.example", 7, "https://a:99999/",
         "https://[::1", "https://[v1.a]/", "https://xn--ß/", "javascript:alert(1)", "https://a/\r\nX: y",
         "http://" + "a" * 9000],
    ),
    ("bot_avatar_url", ["https://a.example/p.png", None], ["p.png", "data:image/png;base64,AAAA"]),
    ("transcription_credentials", ["0195f2c4-6a1e-7b3d-9f00-000000000001", None], ["", "7", "{0195f2c4}", 7]),
    ("transcription_fallback", [[], ["vendor1"], ["deepgram", "vendor8"], None],
     [["none"], ["vendor2-realtime"], ["nobody"], "vendor1", ["vendor1"] * 5, [7]]),
    ("scheduled_start_time", [0, -1, 1_900_000_000, 1_900_000_000_000, 1.9e9, None], ["1900000000", 1.5, True,
     10**15, 1e300]),
    ("time_limit", [5, 240, 30.0, None], [4, 241, "30", 5.5, True]),
    ("webhook_events", [["status_update", "page_trouble"], [], None], [["in_meeting"], "chat_message", [7]]),
    ("initial_chat_message", ["Hello", None], ["", " ", 7, "x" * 10_001]),
    (
        "stop_options",
        [{}, None, {"time_limit": 5}, {"silence_detection": 0, "last_person_detection": 60, "other": "x"}],
        [[], "none", 7],
    ),
    ("authentication", [{}, None, {"always_authenticate": True}, {"account_id": "x"}], [[], "token", True]),
    ("custom_vocabulary", [[], ["word"], ["x" * 100] * 1000, None], [["x"] * 1001, [""], [7], "word", ["x" * 101]]),
    (
        "custom_metadata",
        [{}, {"": ""}, {"a": "x" * 500}, {f"k{n}": "v" for n in range(50)}, None],
        [{f"k{n}": "v" for n in range(51)}, {"a": "x" * 501}, {"a": 1}, {"a": None}, {"a": {}}, [], "x",
         {"a": "\x00"}, {"\ud800": "a"}],
    ),
    ("metadata", [{"a": "b"}, None], [{"a": 1}, "x"]),
    (
        "bot_avatar_file",
        [base64.b64encode(PNG).decode(), "data:image/png;base64," + base64.b64encode(PNG).decode(), {}, None,
         base64.urlsafe_b64encode(PNG).decode().rstrip("="), base64.encodebytes(PNG).decode()],
        ["", "###", base64.b64encode(b"GIF89a" + bytes(40)).decode(), 7, {"a": 1}, "A" * 6_700_000,
         "data:image/png;base64,"],
    ),
]  # fmt: skip
# Tested one by one elsewhere in this file.
OTHERWISE_TESTED = {"transcription_model", "service", "meeting_url"}


def test_every_field_of_a_bot_has_good_and_bad_values_here() -> None:
    assert set(BotFields.model_fields) - {field for field, _, _ in VALUES} - OTHERWISE_TESTED == set(), (
        "add a row to VALUES above: what the field takes, and what it refuses"
    )


# Fields of the request that are no part of the config, and the other way round.
NOT_IN_CONFIG = {"bot_avatar_file", "scheduled_start_time", "time_limit", "metadata"}
NOT_A_CALLERS = {"bot_avatar_object", "host_rules", "waiting_time_given"}


def test_request_and_config_of_a_bot_have_the_same_fields() -> None:
    """What only the request has is taken and lost; what only the config has cannot be asked for."""
    sent, kept = set(BotFields.model_fields), {field.name for field in fields(BotConfig)}
    assert sent - kept == NOT_IN_CONFIG, "add it to BotConfig (src/sederunt/model/bot.py)"
    assert kept - sent == NOT_A_CALLERS, "add it to BotFields (src/sederunt/api/schemas/requests.py)"


def test_a_field_without_another_form_is_kept_as_it_was_sent(good_bot: Body) -> None:
    for field, good, _ in VALUES:
        if field not in NOT_IN_CONFIG | CONVERTED and good[0] is not None:
            config = config_of({**good_bot, field: good[0]})
            expected = UUID(good[0]) if field == "transcription_credentials" else good[0]
            assert getattr(config, field) == (tuple(expected) if isinstance(expected, list) else expected), field


@pytest.mark.parametrize(("field", "good", "bad"), VALUES)
def test_a_field_takes_its_values_and_names_itself_for_others(
    good_bot: Body, field: str, good: list[object], bad: list[object]
) -> None:
    for value in good:
        assert faults_of({**good_bot, field: value}) == {}, value
    for value in bad:
        faults = faults_of({**good_bot, field: value})
        assert list(faults) == [field], value
        assert all(sentence.startswith(f"{field} ") and sentence.endswith(".") for sentence in faults[field]), value


@pytest.mark.parametrize(
    ("option", "least", "most"),
    [
        ("time_limit", 5, 240),
        ("waiting_room_timeout", 1, 60),
        ("last_person_detection", 0, 60),
        ("silence_detection", 0, 60),
    ],
)
def test_each_stop_option_has_its_limits(good_bot: Body, option: str, least: int, most: int) -> None:
    for value in (least, most):
        assert getattr(config_of({**good_bot, "stop_options": {option: value}}).stop_options, option) == value
    for wrong in (least - 1, most + 1, "10", 7.5):
        assert list(faults_of({**good_bot, "stop_options": {option: wrong}})) == [f"stop_options.{option}"]


def test_stop_options_have_the_decided_defaults(good_bot: Body) -> None:
    assert config_of(good_bot).stop_options == StopOptions(
        time_limit=240, waiting_room_timeout=10, last_person_detection=2, silence_detection=15
    )


def test_the_deprecated_time_limit_fills_the_option_only_where_it_is_absent(good_bot: Body) -> None:
    assert config_of({**good_bot, "time_limit": 30}).stop_options.time_limit == 30
    both = {**good_bot, "time_limit": 30, "stop_options": {"time_limit": 60}}
    assert config_of(both).stop_options.time_limit == 60


@pytest.mark.parametrize("metadata", [{"n" * 201: "1"}, {str(n): "1" for n in range(51)}, {"a": "v" * 501}])
@pytest.mark.parametrize("name", ["metadata", "custom_metadata"])
def test_metadata_has_an_end_and_the_field_is_named(good_bot: Body, name: str, metadata: Body) -> None:
    assert list(read(BotFields, {**good_bot, name: metadata}).faults) == [name]


def test_custom_metadata_wins_over_its_other_name(good_bot: Body) -> None:
    assert config_of({**good_bot, "metadata": {"a": "1"}}).custom_metadata == {"a": "1"}
    both = {**good_bot, "metadata": {"a": "1"}, "custom_metadata": {"b": "2"}}
    assert config_of(both).custom_metadata == {"b": "2"}
    assert config_of({**both, "custom_metadata": None}).custom_metadata == {"a": "1"}


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        ({"custom_metadata": {"a": None}}, {"metadata": []}),
        ({"bot_avatar_file": "no picture"}, {"bot_avatar_url": "no address"}),
    ],
)
def test_a_field_wins_over_another_though_it_is_faulty(good_bot: Body, winner: Body, loser: Body) -> None:
    assert list(faults_of({**good_bot, **winner, **loser})) == list(faults_of({**good_bot, **winner}))


def test_a_patch_changes_what_was_sent_and_merges_stop_options(good_bot: Body) -> None:
    before = config_of({**good_bot, "stop_options": {"time_limit": 60}, "metadata": {"a": "1"}, "lang": "de"})
    patch = {"stop_options": {"silence_detection": 0}, "bot_name": "Other", "lang": None, "metadata": None}
    after = changed_config(before, read(BotFields, patch, partial=True).fields)
    assert (after.stop_options.time_limit, after.stop_options.silence_detection) == (60, 0)
    assert (after.bot_name, after.lang, after.custom_metadata) == ("Other", None, {})
    assert (after.service, after.meeting_url, after.transcription_model) == (
        before.service, before.meeting_url, before.transcription_model,
    )  # fmt: skip
    assert changed_config(before, read(BotFields, {}, partial=True).fields) == before


def test_a_waiting_time_that_is_the_default_is_known_to_be_the_callers_word(good_bot: Body) -> None:
    said = config_of({**good_bot, "stop_options": {"waiting_room_timeout": 10}})
    unsaid = config_of({**good_bot, "stop_options": {"time_limit": 60}})
    assert said.stop_options.waiting_room_timeout == unsaid.stop_options.waiting_room_timeout
    assert (said.waiting_time_given, unsaid.waiting_time_given) == (True, False)
    for sent, given in (({"time_limit": 60}, True), (None, False)):
        patch = read(BotFields, {"stop_options": sent}, partial=True).fields
        assert changed_config(said, patch).waiting_time_given is given


def test_authentication_is_taken_whole_and_taken_away_by_null(good_bot: Body) -> None:
    sent = {**good_bot, "authentication": {"zoom_zak_token": "t", "always_authenticate": True}}
    config = config_of(sent)
    assert config.authentication == Authentication(entry_token="t", always_authenticate=True)
    assert changed_config(config, read(BotFields, {"authentication": None}, partial=True).fields).authentication is None


def test_a_start_time_is_in_seconds_or_milliseconds_and_the_past_is_now(clock: FakeClock) -> None:
    def at(value: object) -> float | None:
        start = start_of(read(BotFields, {"scheduled_start_time": value}).fields, clock.now())
        return start.at.timestamp() if start.at else None

    assert at(4_000_000_000) == at(4_000_000_000_000) == 4_000_000_000
    assert at(100_000_000_000) == 100_000_000_000
    assert at(253_402_214_399_999) == 253_402_214_399.999
    assert at(clock.now().timestamp() // 1 - 1) is at(0) is at(-(10**30)) is at(None) is None


def test_settings_of_a_bot_are_overridden_by_what_was_sent() -> None:
    base = {"transcription_model": "vendor2", "lang": "de", "profanity_filter": True, "custom_vocabulary": ("a",)}
    sent = read(RecordingFields, {"lang": "en", "profanity_filter": False, "custom_vocabulary": None}).fields
    config = recording_config(sent, base)
    assert (config.transcription_model, config.lang, config.profanity_filter) == ("vendor2", "en", False)
    assert config.custom_vocabulary == ("a",)


def test_a_credential_of_the_bot_is_left_out_with_a_model_of_another_provider() -> None:
    base = {"transcription_model": "vendor2", "transcription_credentials": UUID(int=7)}

    def credential(**sent: object) -> UUID | None:
        return recording_config(read(RecordingFields, sent).fields, base).transcription_credentials

    assert credential() == credential(transcription_model="deepgram") == UUID(int=7)
    assert credential(transcription_model="whisper") is None
    own = UUID("0195f2c4-6a1e-7b3d-9f00-000000000001")
    assert credential(transcription_model="vendor3", transcription_credentials=str(own)) == own


def test_a_flag_that_is_null_was_not_sent(good_bot: Body) -> None:
    found = read(BotFields, {**good_bot, "video": None, "profanity_filter": None, "realtime_audio": None})
    assert not found.faults
    assert not {"video", "profanity_filter", "realtime_audio"} & found.fields.model_fields_set
    assert found.fields.video is False


def test_a_number_or_flag_that_is_null_in_an_inner_object_was_not_sent(good_bot: Body) -> None:
    options = dict.fromkeys(("waiting_room_timeout", "last_person_detection", "silence_detection"))
    config = config_of(
        {**good_bot, "stop_options": {**options, "time_limit": 30}, "authentication": {"account_id": None}}
    )
    assert config.stop_options == StopOptions(time_limit=30)
    found = read(BotFields, {"stop_options": {"time_limit": None, "silence_detection": 3}}, partial=True)
    assert not found.faults
    kept = changed_config(config, found.fields).stop_options  # as by a PATCH
    assert kept == StopOptions(time_limit=30, silence_detection=3)


def test_a_recording_takes_over_the_bots_fallback_as_far_as_it_can_do_what_is_asked(good_bot: Body) -> None:
    bot = config_of({**good_bot, "transcription_model": "vendor3", "transcription_fallback": ["vendor2-v3", "vendor8"]})
    base = settings_of_source(bot)

    def fallback(**fields: Any) -> tuple[str, ...] | None:
        return recording_config(read(RecordingFields, fields).fields, base).transcription_fallback

    assert fallback() == ("vendor2-v3", "vendor8")
    assert fallback(transcription_model="vendor8") == ("vendor2-v3",)
    assert fallback(transcription_fallback=["vendor1"]) == ("vendor1",)


def test_what_the_source_was_asked_and_another_model_cannot_is_not_taken_over() -> None:
    """A caller who names another model alone sent neither of them."""
    base = {"transcription_model": "vendor1", "lang": "eo", "custom_vocabulary": ("Q3 2026",)}
    config = recording_config(read(RecordingFields, {"transcription_model": "vendor2"}).fields, base)
    assert (config.lang, config.custom_vocabulary) == (None, ("Q3 2026",))
    config = recording_config(read(RecordingFields, {"transcription_model": "vendor5"}).fields, base)
    assert (config.lang, config.custom_vocabulary) == ("eo", ())
    sent = read(RecordingFields, {"transcription_model": "vendor5", "custom_vocabulary": ["Q4"]}).fields
    assert recording_config(sent, base).custom_vocabulary == ("Q4",)
