"""How a site may disagree with itself: its channels, its lists, its tiles and its stage tell different things."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pydantic import ConfigDict

if TYPE_CHECKING:
    from sederunt.practice.script import Script

CROWD = 97  # silent people of a large room
FEW_TILES = 10
STANDING: Mapping[str, Sequence[str]] = {
    "gmeet": ("This video call is being recorded",),
    "zoom": ("AI Companion is on", "Please wait, the host lost connection"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Quirks:
    """What disagrees in one meeting. Names are of the cast; an empty one is nobody."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    seed: int = 0  # of what is drawn while the meeting goes on
    large: str = ""  # shown large before anybody spoke (Zoom)
    pinned: str = ""  # shown large, whoever speaks (Zoom)
    hand: str = ""  # raised a hand that looks like speech, for the whole meeting
    hidden: str = ""  # has no tile: a phone, or hidden by the viewer
    tiles: int = 0  # at most so many tiles, then one of "and N others"; 0: everybody's
    full_lists_s: float = 0.0  # the channel sends all who are here so often, and never that somebody left (Meet, Teams)
    list_lag_s: float = 0.0  # the page's own list and tiles are late by so much
    lost: float = 0.0  # share of the channel's changes that get lost
    mapping_s: float = 0.0  # whose a source is, is told so late; below 0 never (Meet)
    only_one: bool = False  # the page says so when the bot is alone
    standing: str = ""  # says the page all through the call, with nothing to press (Meet, Zoom)
    closable: bool = False  # the question for sound can be closed unanswered (Zoom)
    barring: bool = False  # who is removed is told that it is for good, and refused at the next knock (Meet)
    unanswered: int = 0  # so many knocks the site ends by itself after the variant's `after_s` (Meet)
    other_call: bool = False  # the socket tells of another call of the account, with equal ids of sources (Teams)
    deltas: bool = False  # the socket tells of changes alone; who was here before is the answer to a request (Teams)
    stuck: bool = False  # the dominant speaker is whoever was the first (Teams)
    addresses: bool = False  # tiles are keyed by e-mail address, and labels have badges (Teams)
    soundless: bool = False  # "Don't use audio" is chosen before anybody chose: who leaves it hears nothing (Teams)


def disagreeing(script: "Script", seed: int) -> "Script":
    """Return the script at a site that disagrees with itself in some ways, by seed. Who speaks is not touched."""
    from sederunt.practice.script import CastMember, ScriptedAct

    chance = random.Random(seed)
    speakers = [person.name for person in script.cast]
    silent = ("Hedy Lamarr", "Lise Meitner", "Emmy Noether")
    more = [CastMember(name=silent[0])]  # somebody who never speaks, and may seem to
    acts = list(script.acts)
    if chance.random() < 0.4:  # two tabs of one person, a companion device, or another person of that name
        more.append(CastMember(name=chance.choice(speakers), muted=True))
    if chance.random() < 0.3:
        more.append(CastMember(name=f"{chance.choice(speakers)} (Companion)", muted=True))
    if chance.random() < 0.4:
        more.append(CastMember(name=silent[1]))
        acts.append(ScriptedAct(at_s=4, do="rename", who=silent[1], text="Lise M."))
    if chance.random() < 0.4:
        more.append(CastMember(name=silent[2], joins_at_s=3, leaves_at_s=9))
    if chance.random() < 0.3:
        acts.append(ScriptedAct(at_s=2, do="share", who=chance.choice([silent[0], *speakers])))
    crowd = chance.random() < 0.2
    if crowd:
        more += [CastMember(name=f"Listener {number}", muted=True) for number in range(CROWD)]
    told = script.variant.signals == "network"
    mapping_s = chance.choice([0.0, 0.0, 4.0, -1.0]) if told else 0.0
    seen = told and mapping_s >= 0  # else the page's marks are all there is to go by
    quirks = Quirks(
        seed=seed,
        large=chance.choice(["", silent[0], *speakers]),
        pinned=silent[0] if told and chance.random() < 0.4 else "",
        hand=silent[0] if seen and chance.random() < 0.4 else "",
        hidden=chance.choice(["", *speakers]) if seen else "",
        tiles=FEW_TILES if crowd else chance.choice([0, 0, 3]) if seen else 0,
        full_lists_s=chance.choice([0.0, 2.0]) if told else 0.0,
        list_lag_s=chance.choice([0.0, 0.0, 5.0, 60.0]) if told else 0.0,
        lost=chance.choice([0.0, 0.0, 0.5]) if told else 0.0,
        mapping_s=mapping_s,
        soundless=chance.random() < 0.5,
        standing=chance.choice(["", *STANDING.get(script.service, ())]),
        closable=chance.random() < 0.5,
        barring=chance.random() < 0.3 and script.service == "gmeet",
        unanswered=int(chance.random() < 0.3 and script.service == "gmeet"),
    )
    if quirks.barring:  # which shows only where the bot is removed
        acts = [replace(act, do="remove_bots") if act.do == "end" else act for act in acts]
    if script.service == "teams":
        quirks = replace(
            quirks,
            other_call=told and chance.random() < 0.5,
            deltas=told and not quirks.full_lists_s and chance.random() < 0.5,
            stuck=told and chance.random() < 0.3,
            addresses=chance.random() < 0.5,
        )
    plays: Literal["none", "streams", "plays"] = "none"  # whether the page plays the frames of its receivers by itself
    if script.service == "gmeet":
        plays = chance.choice(("none", "none", "streams", "plays"))
    return replace(
        script,
        cast=(*script.cast, *more),
        acts=tuple(sorted(acts, key=lambda act: act.at_s)),
        variant=replace(script.variant, quirks=quirks, transform=plays),
    )
