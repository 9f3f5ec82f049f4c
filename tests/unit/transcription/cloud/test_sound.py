"""A vendor is sent a file as it is where that is what we would read of it."""

from dataclasses import replace

import pytest

from sederunt.media.facts import MediaFacts
from sederunt.transcription.cloud.sound import media_type_as_it_is

M4A = MediaFacts(container="m4a", duration_s=9.0, has_audio=True, has_video=False, codec="aac", channels=2)


@pytest.mark.parametrize(
    ("facts", "media_type"),
    [
        (M4A, "audio/mp4"),
        (replace(M4A, container="webm"), None),
        (replace(M4A, has_video=True), None),
        (replace(M4A, tracks=2), None),
        (replace(M4A, ends_early=True), None),
        (replace(M4A, stated_s=3.0), None),
        (replace(M4A, container="ogg"), "audio/ogg"),
        (replace(M4A, container="ogg", joined=True), None),
    ],
)
def test_what_is_sent_as_it_is(facts: MediaFacts, media_type: str | None) -> None:
    assert media_type_as_it_is(facts) == media_type
