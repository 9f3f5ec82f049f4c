"""Of several sound tracks those are read in which others may speak."""

import pytest

from sederunt.media.tracks import RETOLD, SoundTrack, heard

PLAIN = SoundTrack(readable=True)
UNREADABLE = SoundTrack(readable=False)


def said(language: str, *dispositions: str) -> SoundTrack:
    return SoundTrack(readable=True, language=language, dispositions=frozenset(dispositions))


@pytest.mark.parametrize(
    ("tracks", "read"),
    [
        ((), ()),
        ((UNREADABLE, UNREADABLE), ()),
        ((PLAIN,), (0,)),
        ((PLAIN, PLAIN, PLAIN), (0, 1, 2)),
        ((UNREADABLE, PLAIN, PLAIN), (1, 2)),
        ((said("deu", "dub"), PLAIN), (0, 1)),  # the first always is
        ((UNREADABLE, said("deu", "comment"), said("deu")), (1, 2)),
        ((said("deu", "default"), said("deu", "original")), (0, 1)),
        ((said("deu"), said("fra"), said("und"), said(""), said("deu")), (0, 2, 3, 4)),
        ((said("und"), said("deu"), said("fra"), said("deu")), (0, 1, 3)),
        ((said("en-US"), said("en_GB"), said("EN"), said("de")), (0, 1, 2)),
        ((said("mul"), said("zxx"), said("deu")), (0, 1, 2)),
    ],
)
def test_tracks_that_say_something_else_are_read(tracks: tuple[SoundTrack, ...], read: tuple[int, ...]) -> None:
    assert heard(tracks) == read


@pytest.mark.parametrize("disposition", sorted(RETOLD))
def test_tracks_that_say_it_again_are_left_out(disposition: str) -> None:
    assert heard([PLAIN, said("", disposition, "default"), PLAIN]) == (0, 2)
