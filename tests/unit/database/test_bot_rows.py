"""A bot as columns, and back."""

import json
import re
from dataclasses import asdict, fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sederunt.clock import SYSTEM_CLOCK
from sederunt.database.bot_rows import NoSeals, config_columns, config_of, fact_columns, metadata_digest
from sederunt.database.columns import document_text
from sederunt.database.ids import new_id
from sederunt.database.tables import IS_AT_WORK
from sederunt.errors import SetupError
from sederunt.model.bot import Authentication, BotConfig, Gap, Service, Verdict
from sederunt.model.status import AT_WORK

_TEXT = st.text(st.characters(), max_size=20)
_AUTHENTICATIONS = st.builds(Authentication, meeting_account_id=st.none() | _TEXT, entry_token=st.none())
# Every field is drawn, by its type, so that one that is added has to come back, too.
_ANY_FIELD: dict[str, Any] = {field.name: ... for field in fields(BotConfig)}
_CONFIGS = st.builds(
    BotConfig,
    **{
        **_ANY_FIELD,
        "authentication": st.none() | _AUTHENTICATIONS,
        "custom_vocabulary": st.lists(_TEXT, max_size=3).map(tuple),
        "custom_metadata": st.dictionaries(_TEXT, _TEXT, max_size=3),
    },
)
BOT_ID = new_id(SYSTEM_CLOCK.now())
CONFIG = BotConfig(
    service=Service("zoom"), meeting_url="https://zoom.us/j/1", bot_name="Notes", transcription_model="none"
)


@given(_CONFIGS)
def test_a_config_comes_back_as_it_was(config: BotConfig) -> None:
    columns = config_columns(BOT_ID, config, NoSeals())
    assert config_of(json.loads(document_text(columns["config"]))) == config


def test_a_field_of_a_newer_version_is_left_out() -> None:
    assert config_of({**json.loads(document_text(asdict(CONFIG))), "from_the_future": 1}) == CONFIG


def test_a_token_never_reaches_the_document() -> None:
    class Reversed(NoSeals):
        def seal(self, text: str, table: str, column: str, row: object) -> bytes:
            assert (table, column, row) == ("bots", "zak", BOT_ID)
            return text[::-1].encode()

    config = replace(CONFIG, authentication=Authentication(entry_token="s3cret", always_authenticate=True))
    columns = config_columns(BOT_ID, config, Reversed())
    assert "s3cret" not in document_text(columns["config"])
    assert columns["zak"] == b"terc3s"
    assert config_of(json.loads(document_text(columns["config"])), "s3cret") == config


def test_a_meeting_account_is_found_under_the_name_of_earlier_versions() -> None:
    config = replace(CONFIG, authentication=Authentication(meeting_account_id="one"))
    document = json.loads(document_text(config_columns(BOT_ID, config, NoSeals())["config"]))
    document["authentication"]["account_id"] = document["authentication"].pop("meeting_account_id")
    assert config_of(document) == config


def test_without_a_sealing_key_a_token_is_refused_with_what_to_do() -> None:
    config = replace(CONFIG, authentication=Authentication(entry_token="s3cret"))
    with pytest.raises(SetupError, match="Sealer"):
        config_columns(BOT_ID, config, NoSeals())


def test_facts_become_plain_values() -> None:
    facts = fact_columns({"verdict": Verdict.HEALTHY, "gaps": (Gap(start=1, end=2, cause="host_lost"),), "capture": {}})
    assert facts == {
        "verdict": "healthy",
        "gaps": [{"start": 1, "end": 2, "cause": "host_lost"}],
        "capture": None,
    }


@pytest.mark.parametrize("name", ["status", "epoch", "id", "account_id", "stop_reason", "nonsense"])
def test_what_is_not_a_fact_cannot_be_written_as_one(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        fact_columns({name: "x"})


def test_metadata_entries_with_the_same_letters_differ() -> None:
    assert metadata_digest("a", "bc") != metadata_digest("ab", "c")


def test_the_index_of_bots_at_work_covers_their_statuses() -> None:
    """Its condition is written out, since a partial index serves only a query that says the same, word for word."""
    told = set(re.findall(r"'(\w+)'", str(IS_AT_WORK)))
    assert told == AT_WORK, "tables.IS_AT_WORK: change it together with AT_WORK, and add a migration of the index"
