"""A meeting script: who comes, who says what when, when people leave, and in which variant the site shows itself."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError

from sederunt.errors import InvalidConfig
from sederunt.practice import clips
from sederunt.practice.quirks import Quirks

# Acts that a script may schedule and that the control API may ask for at any moment.
Deed = Literal[
    "say",  # who, clip
    "join",  # who (of the cast), or a new name
    "leave",  # who
    "mute",  # who
    "unmute",  # who
    "share",  # who
    "unshare",  # who
    "rename",  # who, text: the new name
    "chat",  # who, text
    "record",  # the recording notice appears at everyone's page
    "remove_bots",  # the host removes every bot from the call
    "end",  # the host ends the meeting for everyone
]
_OF_NOBODY: frozenset[Deed] = frozenset({"record", "remove_bots", "end"})
# How a bot is received.
Entry = Literal[
    "open",  # no knock: the bot is in at once
    "knock",  # waits until the control API admits or denies it
    "admit_after",  # knock, admitted after `after_s`
    "deny_after",  # knock, denied after `after_s`
    "server_timeout",  # knock, the site itself gives up after `after_s`
    "host_late",  # "waiting for the host" until `after_s`, then in
    "host_elsewhere",  # the host is in another meeting (Zoom)
    "invalid",  # unknown code
    "ended",  # the meeting is over already
    "blocked",  # hard block after the knock, and a redirect off the host
    "unexplained",  # refused, and not a word why
    "problem",  # "we encountered a problem joining"
    "sign_in",  # redirect to the sign-in pages; signed-in visitors get in
    "captcha",  # a visible challenge
    "locked",
    "full",
]
Service = Literal["gmeet", "teams", "zoom"]
DEFAULT_SERVICE: Service = "gmeet"
MediaPrompt = Literal["off", "both", "microphone"]
# Misspelt fields of a script are faults, not wishes.
_STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, kw_only=True, slots=True)
class CastMember:
    """One simulated person."""

    __pydantic_config__ = _STRICT

    name: str
    joins_at_s: float = 0.0  # 0 and below: already there when the meeting starts
    leaves_at_s: float | None = None
    host: bool = False
    muted: bool = False  # shown as muted; `say` unmutes
    video: bool = False
    avatar: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScriptedAct:
    """One scheduled deed. `who` is a participant's name."""

    __pydantic_config__ = _STRICT

    at_s: float
    do: Deed
    who: str = ""
    clip: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """How this meeting's site behaves. Everything that real sites were seen to vary, per meeting."""

    __pydantic_config__ = _STRICT

    entry: Entry = "open"
    after_s: float = 3.0  # delay of the entries that have one
    media_prompt: MediaPrompt = "off"
    curly: bool = False  # ’ instead of ' in every text
    heading: str = ""  # prejoin heading; empty takes the site's usual one
    words: Mapping[str, str] = field(default_factory=dict)  # text or label of the site → what it shows instead
    slow_s: float = 0.0  # every screen appears late by so much
    offers: Literal["page", "server"] = "page"  # who makes the WebRTC offer
    # mixed: one track, several CSRCs; webaudio (Meet, Zoom): over a data channel, no receiver; beside_receivers (Meet):
    # the same, with receivers that get nothing; own_tracks (Zoom): a track for each of the cast, its stream named after
    # them
    audio: Literal["per_person", "mixed", "webaudio", "beside_receivers", "own_tracks"] = "per_person"
    sound: Literal["sent", "never", "second_page"] = "sent"  # to whom; second_page: not to the first page of a bot
    idle: Literal["nothing", "silence"] = "nothing"  # what a slot sends while nobody has it
    dtx: bool = False  # pauses inside a clip are not sent
    loss: float = 0.0  # share of audio packets that are dropped on the way
    late: float = 0.0  # share of audio packets that come 20 to 120 ms late, so out of order
    csrcs: bool = True  # packets name whose sound they carry
    level_extension: bool = True  # packets carry their loudness
    announce_ssrc: bool = True  # the SDP names the SSRCs
    new_ssrc_every_s: float = 0.0  # audio changes its SSRC so often without new SDP; 0 never
    video: int = 0  # video tracks that the page takes
    csp: Literal["off", "strict", "trusted_types"] = "strict"
    # page: the page puts its own transform on every audio receiver and hands the frames on; plays: its transform keeps
    # them, and the page decodes and plays them by itself; streams: the same, by createEncodedStreams, as Meet does
    transform: Literal["none", "page", "plays", "streams"] = "none"
    elements: bool = True  # the page attaches one audio element per slot
    speaking: Literal["audio", "server"] = "audio"  # where the page's speaking marks come from
    # Zoom: tiles and control socket tell who speaks; else only the stage, by who stands on it. Teams: tiles tell.
    marks: bool = True
    layout: Literal["speaker", "gallery"] = "speaker"  # Zoom: gallery has no stage, everybody is shown alike
    panels: Literal["one", "beside"] = "one"  # Zoom: opening people or chat closes the other; beside: both stay
    signals: Literal["network", "page"] = "network"  # page: the site's channels carry nothing that we can read
    trusted_clicks: bool = False  # the join button ignores clicks that no person can have made
    suspected: bool = False  # the join answer carries the bot mark (field 36)
    two_step: bool = False  # after the join button a notice with its own "Join now"
    cookie_banner: bool = False
    chat: bool = True
    chat_editable: bool = False  # the composer is a contenteditable, not a textarea
    stalls: int = 0  # so many page loads stay blank; a reload helps
    redirect_s: float = 60.0  # countdown of the hard block
    leave_lag_s: float = 0.0  # people who left stay in the roster so long
    frame: bool = False  # Teams, Zoom: the client sits inside an iframe
    launcher: bool = True  # Teams, Zoom: the launcher page comes first
    toolbar: Literal["full", "narrow"] = "full"  # Teams: narrow has devices, "More" and the way out, and no stage
    devices_modal: Literal["never", "before", "after", "both"] = "never"  # Teams: "Continue without audio or video"
    join_audio: bool = True  # Zoom: the bot has to press "Join Audio by Computer"
    passcode: str = ""  # Zoom: asked for where the address has none
    disclaimer: str = ""  # Zoom: the button of a disclaimer that has to be accepted after the join button
    consent: bool = False  # recording consent on entering
    one_of_a_name: bool = False  # whoever has the name of a bot in the call is refused, and not told why
    quirks: Quirks = field(default_factory=Quirks)  # in what the site disagrees with itself


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """A whole meeting."""

    __pydantic_config__ = _STRICT

    service: Service = "gmeet"
    title: str = "Practice meeting"
    cast: tuple[CastMember, ...] = ()
    acts: tuple[ScriptedAct, ...] = ()
    # first_bot: when the first bot's media is connected; told: when the control API says so
    starts: Literal["first_bot", "created", "told"] = "first_bot"
    loop_s: float | None = None  # acts start over after so many seconds
    variant: Variant = field(default_factory=Variant)

    def reference(self) -> list[tuple[str, str]]:
        """Return what is said, in order: (speaker, text)."""
        spoken = sorted((act for act in self.acts if act.do == "say"), key=lambda act: act.at_s)
        return [(act.who, clips.catalogue()[act.clip].text) for act in spoken]

    def duration_s(self) -> float:
        """Return when the last act is over."""
        return max(
            (act.at_s + (clips.load(act.clip).duration_s if act.do == "say" else 0.0) for act in self.acts), default=0.0
        )


_ADAPTER = TypeAdapter(Script)


def parse(data: Mapping[str, Any]) -> Script:
    """Parse a script from JSON or TOML data. InvalidConfig names every fault by its field."""
    try:
        script = _ADAPTER.validate_python(data)
    except ValidationError as error:
        fields = {".".join(map(str, fault["loc"])) or "script": [fault["msg"]] for fault in error.errors()}
        raise InvalidConfig(fields) from None
    if faults := _faults(script):
        raise InvalidConfig({name: [sentence] for name, sentence in faults.items()})
    return script


def _faults(script: Script) -> dict[str, str]:
    """Return what no meeting could follow, by field. Pure."""
    faults: dict[str, str] = {}
    names = {person.name for person in script.cast}
    names |= {act.who for act in script.acts if act.do == "join"} | {a.text for a in script.acts if a.do == "rename"}
    for number, act in enumerate(script.acts):
        if act.do == "say" and act.clip not in clips.catalogue():
            faults[f"acts.{number}.clip"] = f"There is no clip {act.clip}; known: {', '.join(clips.catalogue())}."
        if act.do not in _OF_NOBODY and not act.who:
            faults[f"acts.{number}.who"] = f"The act {act.do} needs a who."
        elif act.do not in _OF_NOBODY and act.who not in names:
            faults[f"acts.{number}.who"] = f"{act.who} is not of the cast, and no act lets anybody of this name join."
    for number, person in enumerate(script.cast):
        if person.leaves_at_s is not None and person.leaves_at_s < person.joins_at_s:
            faults[f"cast.{number}.leaves_at_s"] = (
                f"{person.name} cannot leave at {person.leaves_at_s:g} s, before joining at {person.joins_at_s:g} s."
            )
    if script.loop_s is not None and not script.loop_s > 0:
        faults["loop_s"] = f"A script starts over after more than 0 s, not after {script.loop_s:g}; null for never."
    return faults


def read(path: Path) -> Script:
    """Read a script from a .toml or .json file. InvalidConfig names the place where it is neither."""
    kind, loads = ("TOML", tomllib.loads) if path.suffix == ".toml" else ("JSON", json.loads)
    try:
        data = loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidConfig({"script": [f"The file is no text in UTF-8: {error}."]}) from None
    except ValueError as error:
        raise InvalidConfig({"script": [f"The file is no {kind}: {error}."]}) from None
    return parse(data)


def to_data(script: Script) -> dict[str, Any]:
    """Return the script as JSON data; `parse` reads it back."""
    data: dict[str, Any] = _ADAPTER.dump_python(script, mode="json", exclude_defaults=True)
    return data


# The demonstration: three people in turn, about 70 seconds, then the host ends the meeting.
_DEMO_TURNS = (
    ("Mary Somerville", "cities_times"),
    ("Charles Babbage", "jfk"),
    ("Ada Lovelace", "librivox_0870"),
    ("Mary Somerville", "cities_epoch"),
    ("Ada Lovelace", "librivox_0880"),
    ("Mary Somerville", "cities_hope"),
    ("Ada Lovelace", "librivox_0890"),
    ("Mary Somerville", "cities_short"),
)


def demo(
    variant: Variant | None = None,
    *,
    service: Service = "gmeet",
    turns: int | None = None,
    pause_s: float = 0.7,
    first_at_s: float = 1.0,
) -> Script:
    """Return three people who speak in turn; the host ends the meeting after the last one.

    `turns` shortens it, or lets them begin again.
    """
    acts: list[ScriptedAct] = []
    at_s = first_at_s
    for who, clip in islice(cycle(_DEMO_TURNS), len(_DEMO_TURNS) if turns is None else turns):
        acts.append(ScriptedAct(at_s=round(at_s, 2), do="say", who=who, clip=clip))
        at_s += clips.load(clip).duration_s + pause_s
    acts.append(ScriptedAct(at_s=round(at_s, 2), do="end"))
    cast = ("Ada Lovelace", "Charles Babbage", "Mary Somerville")
    return Script(
        service=service,
        title="The Analytical Engine",
        cast=tuple(CastMember(name=name, host=name == "Ada Lovelace") for name in cast),
        acts=tuple(acts),
        variant=variant or Variant(),
    )
