"""Zoom's web client."""

from sederunt.model.bot import Service
from sederunt.platforms.platform import Platform
from sederunt.platforms.site import Site
from sederunt.platforms.zoom.controls import CAMERA, CHAT, JOURNEY, LEAVING, NOTICES, PANELS
from sederunt.platforms.zoom.decode import ZoomDecoder
from sederunt.platforms.zoom.evidence import NEVER, ROWS
from sederunt.platforms.zoom.links import parse_link
from sederunt.platforms.zoom.watch import WATCH

PLATFORM: Platform = Site(
    service=Service.ZOOM,
    name_limit=64,
    chat_limit=1024,
    origins=("https://app.zoom.us", "https://zoom.us", "https://www.zoomgov.com"),
    rows=ROWS,
    never=NEVER,
    journey=JOURNEY,
    notices=NOTICES,
    camera=CAMERA,
    chat_panel=CHAT,
    leave_targets=LEAVING,
    panels=PANELS,
    watch=WATCH,
    make_decoder=ZoomDecoder,
    link_parser=parse_link,
    entry_parameter="zak",
)
