"""Google Meet."""

from sederunt.model.bot import Service
from sederunt.platforms.gmeet.controls import CONTROLS, JOURNEY
from sederunt.platforms.gmeet.decode import MeetDecoder
from sederunt.platforms.gmeet.evidence import NEVER, ROWS
from sederunt.platforms.gmeet.links import parse_link
from sederunt.platforms.gmeet.sign_in import SIGN_IN
from sederunt.platforms.gmeet.watch import WATCH
from sederunt.platforms.platform import Platform
from sederunt.platforms.sign_in_pages import AccountKind, AccountUse
from sederunt.platforms.site import Limits, Site

PLATFORM: Platform = Site(
    service=Service("gmeet"),
    title="Google Meet",
    limits=Limits(name=60, chat=500),
    origins=("https://meet.google.com",),
    rows=ROWS,
    never=NEVER,
    journey=JOURNEY,
    controls=CONTROLS,
    watch=WATCH,
    make_decoder=MeetDecoder,
    link_parser=parse_link,
    accounts=AccountUse(
        kind=AccountKind.SESSION,
        sign_in_url="https://accounts.google.com/ServiceLogin?continue=https%3A%2F%2Fmeet.google.com%2F",
        pages=SIGN_IN,
    ),
)
