"""What the console's templates are given, and what they make of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import plugin
from sederunt.console.render import environment
from sederunt.platforms import registry


@pytest.fixture
def _plugged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(plugin.install(tmp_path))
    registry.installed.cache_clear()
    yield
    monkeypatch.undo()
    registry.installed.cache_clear()


def test_a_meetings_link_leads_to_the_address_that_its_text_holds() -> None:
    config = {"bot_name": "Minutes", "meeting_url": "javascript:alert(1) https://meet.google.com/abc-defg-hij"}
    bot = {"id": 1, "status": "scheduled", "config": config, "scheduled_for": None, "created_at": None}
    text = environment().get_template("bot_head.html").render(bot=bot, may_write=False)
    assert 'href="https://meet.google.com/abc-defg-hij"' in text
    assert 'href="javascript' not in text


@pytest.mark.usefixtures("_plugged")
def test_the_choice_of_services_has_the_titles_and_hosts_of_installed_platforms() -> None:
    template = environment().from_string(
        "{% import 'parts.html' as parts %}{{ parts.services_choice('service', services) }}"
    )
    text = template.render(services=("gmeet", "roundtable", "removed"))
    assert '<option value="gmeet" data-hosts="meet.google.com">Google Meet</option>' in text
    assert '<option value="roundtable" data-hosts="roundtable.example.org">Roundtable</option>' in text
    assert '<option value="removed" data-hosts="">removed</option>' in text
