"""People and chat as other markups of the sites show them: read by the watch plan, understood by the decoder."""

from dataclasses import dataclass

import pytest

from harness.platforms_room import OpenPage, PageTold, StaticSite, heard_by
from sederunt.model.bot import Service
from sederunt.platforms.registry import platform_of

URLS = {
    Service("gmeet"): "https://meet.google.com/abc-defg-hij",
    Service("teams"): "https://teams.microsoft.com/v2",
    Service("zoom"): "https://app.zoom.us/wc/12345678901/join",
}


@dataclass(frozen=True, kw_only=True)
class Shown:
    service: Service
    name: str
    html: str
    people: tuple[str, ...] = ()
    chat: tuple[tuple[str, str], ...] = ()
    own: str = ""  # which of the people is oneself
    speaking: tuple[str, ...] = ()  # whom the page marks
    count: int | None = None  # what the page's counter says

    @property
    def others(self) -> tuple[str, ...]:
        return tuple(name for name in self.people if name != self.own)


SHOWN = [
    Shown(service=Service("gmeet"), name="ids of another form, merged audio, effects", people=("Ada", "Grace"),
          own="Grace",
          html="<div data-participant-id=visual_effects aria-label='Backgrounds and effects'></div>"
          "<div role=list aria-label=Participants><div role=listitem data-participant-id=p1 aria-label=Ada></div>"
          "<div role=listitem data-participant-id=p2 aria-label='Grace (You)'></div>"
          "<div role=listitem data-participant-id=p3 aria-label='Merged audio'></div>"
          "<div role=listitem data-participant-id=p4 aria-label=Ada><div>Presentation</div></div></div>"),
    Shown(service=Service("gmeet"), name="group of messages with a pin", chat=(("Ada", "One"), ("Ada", "Two")),
          html="<aside aria-label='Side panel'><div class=aops0b><div class=poVWob>Ada</div>"
          "<div data-message-id=1><div jsname=dTKtvb>One</div><button data-message-id=1><i>keep</i></button></div>"
          "<div data-message-id=2><div jsname=dTKtvb>Two</div></div></div></aside>"),
    Shown(service=Service("teams"), name="tree with a lobby", people=("Ada Lovelace", "Hopper, Grace"),
          html="<div role=tree aria-label=Attendees>"
          "<div data-cid=roster-participant aria-label='Ada Lovelace, Organizer, muted'></div>"
          "<div data-cid=roster-participant aria-label='Hopper, Grace (Unverified), unmuted'></div>"
          "<div data-tid=participantsInLobby-1><div data-cid=roster-participant aria-label=Eve></div></div></div>"),
    Shown(service=Service("teams"), name="tiles of an older client", people=("Ada",),
          html="<div data-cid=calling-participant-stream>"
          "<div data-tid=participant-info-nametag>Ada (Guest)</div></div>"),
    Shown(service=Service("teams"), name="tiles keyed by address, with badges",
          people=("Amr El Shimy", "Ada Lovelace", "Grace Hopper"), speaking=("Ada Lovelace", "Amr El Shimy"),
          html="<div data-stream-type=Video data-tid=amr@contoso.com aria-label='Amr El Shimy External unfamiliar, "
          "video is on, Context menu is available'><div data-tid=voice-level-stream-outline "
          "class=vdi-frame-occlusion></div></div>"
          "<div data-stream-type=Video data-tid=ada@contoso.com aria-label='Ada Lovelace Unverified, muted'>"
          "<div data-tid=voice-level-stream-outline class=vdi-frame-occlusion></div>"
          "<div data-tid=participant-info-nametag>Ada Lovelace</div></div>"
          "<div data-stream-type=Video data-tid=menur1j aria-label='Grace Hopper, video is on'></div>"
          "<div data-stream-type=Video data-tid=nobody@contoso.com></div>"),
    Shown(service=Service("teams"), name="badges in the panel and the chat", people=("Ada Lovelace", "Grace Hopper"),
          chat=(("Ada Lovelace", "Hello"),),
          html="<div role=tree aria-label=Attendees><div data-tid='participantsInCall-ada@contoso.com' "
          "aria-label='Ada Lovelace External, muted'><span title='ada@contoso.com'>Ada Lovelace</span></div>"
          "<div data-cid=roster-participant aria-label='Grace Hopper Unverified, unmuted'>"
          "<span title='Grace Hopper Unverified'></span></div></div>"
          "<div data-tid=chat-pane-item id=m1>"
          "<span data-tid=message-author-name>Ada Lovelace External unfamiliar</span>"
          "<div data-tid=messageBodyContent>Hello</div></div>"),
    Shown(service=Service("gmeet"), name="a counter in the label of the button", count=1,
          html="<button aria-label='People - 1 joined'></button><button aria-label='Chat with everyone 3'></button>"),
    Shown(service=Service("teams"), name="a counter beside the chat's", count=1,
          html="<button id=chat-button><span data-tid=toolbar-item-badge>4</span></button>"
          "<button id=roster-button aria-label=People><span data-tid=toolbar-item-badge>1</span></button>"),
    Shown(service=Service("zoom"), name="tiles of the gallery, and a counter", people=("Ada", "Grace"), count=3,
          html="<div class=gallery-video-container__video-frame><div class=video-avatar__avatar-footer><span>Ada</span>"
          "</div></div><div class=gallery-video-container__video-frame><div class=video-avatar__avatar-name>Grace</div>"
          "</div><div class=gallery-video-container__video-frame><div class=video-avatar__avatar-name>Ada's screen"
          "</div></div><button aria-label='open the participants list pane'>"
          "<span class=footer-button__number-counter>3</span></button>"),
    Shown(service=Service("teams"), name="chat of an older client", chat=(("Ada", "Hello all"),),
          html="<div data-tid=chat-pane-item id=m1><span data-tid=message-author-name>Ada</span>"
          "<div dir=auto role=heading aria-level=4>Hello <b>all</b></div></div>"),
    Shown(service=Service("zoom"), name="labels alone, and somebody who waits", people=("Ada",),
          html="<div id=participants-ul role=list>"
          "<div class=participants-li aria-label='Ada,(Host) computer audio muted'></div></div>"
          "<div class=waiting-room-list-container><div class=participants-li aria-label=Eve></div></div>"),
    Shown(service=Service("zoom"), name="chat by its labels", chat=(("Ada", "Hello: all"), ("Grace", "Hi")),
          html="<div id=chat-message-list aria-label='Chat Message List'>"
          "<div id=chat-message-1 aria-label='Ada to Everyone, 10:42 AM, Hello: all'></div>"
          "<div id=chat-message-2 aria-label='Grace to Everyone: Hi'></div></div>"),
]  # fmt: skip


@pytest.mark.parametrize("shown", SHOWN, ids=lambda shown: f"{shown.service}: {shown.name}")
async def test_a_list_is_read(open_own: OpenPage, site: StaticSite, shown: Shown) -> None:
    platform = platform_of(shown.service)
    opened = await open_own(watch=platform.watch_plan(), hosts=platform.origins)
    url = URLS[shown.service]
    site.put("/" + url.split("/", 3)[3], shown.html)
    await opened.page.goto(url)

    def told() -> PageTold:
        return heard_by(platform.decoder(own_name="Minutes"), opened.signals)

    def counted() -> list[int | None]:
        return [signal.data.get("count") for signal in opened.signals if signal.kind == "banner"]

    def marked(heard: PageTold) -> set[str]:
        return {one.name for one in heard.roster.fold.participants if one.events}

    while (
        len((heard := told()).names) + len(heard.chat) < len(shown.others) + len(shown.chat)
        or len(marked(heard)) < len(shown.speaking)
        or (shown.count is not None and not counted())
    ):
        opened.news.clear()
        await opened.news.wait()
    assert set(counted()) <= {shown.count}
    chat = [(message.username, message.content) for message in heard.chat]
    assert (tuple(heard.names), tuple(chat)) == (shown.others, shown.chat)
    assert marked(heard) == set(shown.speaking)
