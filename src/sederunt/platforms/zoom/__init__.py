"""Zoom's web client."""

from sederunt.model.bot import Service
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in_pages import AccountKind, AccountUse
from sederunt.platforms.site import Limits, Site
from sederunt.platforms.zoom.controls import CONTROLS, JOURNEY
from sederunt.platforms.zoom.decode import ZoomDecoder
from sederunt.platforms.zoom.evidence import NEVER, ROWS
from sederunt.platforms.zoom.links import parse_link
from sederunt.platforms.zoom.watch import WATCH

PLATFORM: Platform = Site(
    service=Service("zoom"),
    title="Zoom",
    limits=Limits(name=64, chat=1024),
    origins=("https://app.zoom.us", "https://zoom.us", "https://www.zoomgov.com"),
    rows=ROWS,
    never=NEVER,
    journey=JOURNEY,
    controls=CONTROLS,
    watch=WATCH,
    make_decoder=ZoomDecoder,
    link_parser=parse_link,
    accounts=AccountUse(kind=AccountKind.TOKEN, entry_parameter="zak"),
)
