"""Google Meet."""

from sederunt.model.bot import Service
from sederunt.platforms.gmeet.controls import CAMERA, CHAT, JOURNEY, LEAVING, NOTICES, PANELS
from sederunt.platforms.gmeet.decode import MeetDecoder
from sederunt.platforms.gmeet.evidence import NEVER, ROWS
from sederunt.platforms.gmeet.links import parse_link
from sederunt.platforms.gmeet.sign_in import SIGN_IN
from sederunt.platforms.gmeet.watch import WATCH
from sederunt.platforms.platform import Platform
from sederunt.platforms.site import Site

PLATFORM: Platform = Site(
    service=Service.GMEET,
    name_limit=60,
    chat_limit=500,
    origins=("https://meet.google.com",),
    rows=ROWS,
    never=NEVER,
    journey=JOURNEY,
    notices=NOTICES,
    camera=CAMERA,
    chat_panel=CHAT,
    leave_targets=LEAVING,
    panels=PANELS,
    watch=WATCH,
    make_decoder=MeetDecoder,
    link_parser=parse_link,
    sign_in_pages=SIGN_IN,
)
