"""Describe the controls of a call: notices, camera, chat, panels, and the way out."""

from dataclasses import dataclass

from sederunt.platforms.evidence import EvidenceRow
from sederunt.platforms.targets import Step, Target


@dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A part of the page that can be read only while it is open."""

    control: Target  # opens it; a toggle, so it is pressed only if no row matches
    rows: tuple[EvidenceRow, ...]  # signs that it is open
    for_roster: bool = False  # not needed if the network reports the roster (and chat)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatPanel:
    """Where messages are written and shown."""

    open: Target  # a toggle: pressed only while the composer is absent
    composer: Target
    send: Target
    messages: tuple[str, ...]  # selectors of the elements that contain sent messages
    disabled: tuple[EvidenceRow, ...] = ()  # signs that chat is switched off


@dataclass(frozen=True, kw_only=True, slots=True)
class Camera:
    """The switch of the bot's own camera in the call. Each target is present only while it has an effect."""

    on: Target
    off: Target


@dataclass(frozen=True, kw_only=True, slots=True)
class CallControls:
    """The controls that a bot uses in the call. A site leaves out those that it lacks."""

    notices: tuple[Step, ...] = ()  # notices that may cover the call, and the button that closes each
    camera: Camera | None = None
    chat: ChatPanel | None = None
    panels: tuple[Panel, ...] = ()  # panels that must be open to be read
    leaving: tuple[Target, ...]  # in this order: the button, in the call and while waiting, then its questions
