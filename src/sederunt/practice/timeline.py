"""The acts of a script in the order of their time, over and over where the script loops."""

import dataclasses
from dataclasses import dataclass
from typing import Literal

from sederunt.practice.script import Script, ScriptedAct


@dataclass(frozen=True, kw_only=True, slots=True)
class CastMove:
    """One of the cast comes or goes at their own time. By number: names may be there twice, or change."""

    at_s: float
    do: Literal["join", "leave"]
    index: int  # in the script's cast


class ScriptTimeline:
    """Pure: told the meeting time, it hands out what is due."""

    def __init__(self, script: Script) -> None:
        self._script = script
        cast = list(enumerate(script.cast))
        coming = [
            CastMove(at_s=person.joins_at_s, do="join", index=index)
            for index, person in cast
            if person.joins_at_s > 0  # the others sit there already
        ]
        going = [
            CastMove(at_s=person.leaves_at_s, do="leave", index=index)
            for index, person in cast
            if person.leaves_at_s is not None
        ]
        self._pending: list[ScriptedAct | CastMove] = sorted([*coming, *script.acts, *going], key=lambda act: act.at_s)

    @property
    def is_over(self) -> bool:
        return not self._pending

    def due(self, now_s: float) -> list[ScriptedAct | CastMove]:
        """Return the acts whose time has come, each once."""
        acts = [act for act in self._pending if act.at_s <= now_s]
        self._pending = self._pending[len(acts) :]
        if self.is_over and self._script.loop_s is not None and self._script.acts:
            start_s = (now_s // self._script.loop_s + 1) * self._script.loop_s
            again = (dataclasses.replace(act, at_s=act.at_s + start_s) for act in self._script.acts)
            self._pending = sorted(again, key=lambda act: act.at_s)
        return acts
