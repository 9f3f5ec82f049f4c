"""Describe the controls of a call: notices, camera, chat, panels, and the way out."""

from dataclasses import dataclass

from sederunt.platforms.evidence import EvidenceRow
from sederunt.platforms.targets import Step, Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A part of the page that tells only while it stands open."""

    control: Target  # opens it; a toggle, so pressed only where no row matches
    rows: tuple[EvidenceRow, ...]  # signs that it stands open
    for_roster: bool = False  # not needed where the network tells of roster (and chat)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatPanel:
    """Where messages are written and shown."""

    open: Target  # a toggle: pressed only while the composer is not there
    composer: Target
    send: Target
    messages: tuple[str, ...]  # selectors of what holds sent messages
    disabled: tuple[EvidenceRow, ...] = ()  # signs that chat is switched off


@dataclass(frozen=True, kw_only=True, slots=True)
class Camera:
    """The switch of the bot's own camera in the call. Each target is there only while it would do something."""

    on: Target
    off: Target


@dataclass(frozen=True, kw_only=True, slots=True)
class CallControls:
    """What a bot uses in the call. What a site does not have is left out."""

    notices: tuple[Step, ...] = ()  # what may cover the call, and the button that takes it away
    camera: Camera | None = None
    chat: ChatPanel | None = None
    panels: tuple[Panel, ...] = ()  # what has to stand open for the page to tell of it
    leaving: tuple[Target, ...]  # in this order: the button, in the call and while waiting, then what it asks
