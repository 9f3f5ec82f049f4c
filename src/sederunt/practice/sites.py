"""The row of sites: service → shape."""

from sederunt.practice.gmeet.site import MeetSite
from sederunt.practice.site import SiteShape
from sederunt.practice.teams.site import TeamsSite
from sederunt.practice.zoom.site import ZoomSite

SITES: dict[str, SiteShape] = {site.service: site for site in (MeetSite(), TeamsSite(), ZoomSite())}


def of_host(host: str) -> SiteShape | None:
    """Return the site that answers under this host name."""
    return next((site for site in SITES.values() if _serves(site, host)), None)


def all_hosts() -> list[str]:
    return [host for site in SITES.values() for host in site.hosts]


def _serves(site: SiteShape, host: str) -> bool:
    return any(host == own or (own.startswith("*.") and host.endswith(own[1:])) for own in site.hosts)
