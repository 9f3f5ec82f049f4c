"""How Chromium is launched: which program, which flags and why, per kind of browser.

Flags were measured one by one; most well-known "performance" flags had no effect and are absent on purpose. The
largest saving is not a flag at all: nothing is decoded, nothing is painted, and browsers are shared.
"""

import contextlib
import os
import shutil
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

from sederunt.browser.browser_user import OtherUser
from sederunt.browser.processes import OWNER_VARIABLE, owner_mark
from sederunt.browser.sandbox import wants_sandbox
from sederunt.errors import SetupError
from sederunt.settings import BrowserSettings

Mode = Literal["shell", "headless", "headful"]

SHELL: Mode = "shell"
HEADLESS: Mode = "headless"
HEADFUL: Mode = "headful"
EVERY: tuple[Mode, ...] = (SHELL, HEADLESS, HEADFUL)
WINDOWED: tuple[Mode, ...] = (HEADLESS, HEADFUL)

# The program itself first, then the wrapper on PATH: Debian's wrapper adds flags of its own (GPU raster, extensions).
PROGRAMS: Mapping[Mode, tuple[str, ...]] = {
    "shell": ("/usr/lib/chromium/chromium-headless-shell", "chromium-headless-shell", "chrome-headless-shell"),
    "headless": ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "headful": ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
}
REMEDIES: Mapping[Mode, str] = {
    "shell": "Install the package chromium-headless-shell, or set SEDERUNT_BROWSER__SHELL_EXECUTABLE to its path.",
    "headless": "Install the package chromium, or set SEDERUNT_BROWSER__EXECUTABLE to its path.",
    "headful": "Install the package chromium, or set SEDERUNT_BROWSER__EXECUTABLE to its path.",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """One switch, and why it is there."""

    text: str
    why: str
    modes: tuple[Mode, ...] = EVERY


FLAGS: tuple[Flag, ...] = (
    Flag(
        text="--autoplay-policy=no-user-gesture-required",
        why="a fresh AudioContext is suspended without it, silently: the worklet backend would hear nothing",
    ),
    Flag(
        text="--disable-background-networking",
        why="no start-up requests of the browser itself: they cost CPU, and wait for ever in a closed network",
    ),
    Flag(text="--disable-component-update", why="the same, for components"),
    Flag(text="--no-pings", why="no hyperlink auditing requests"),
    Flag(
        text="--disable-background-timer-throttling",
        why="several pages share a browser, so all but one are background: their timers would run once a minute",
    ),
    Flag(text="--disable-backgrounding-occluded-windows", why="the same, for windows nobody looks at"),
    Flag(text="--disable-renderer-backgrounding", why="the same, for the priority of their processes"),
    Flag(text="--lang=en-US", why="evidence tables are English; the site's own language setting still wins"),
    Flag(
        text="--disable-blink-features=AutomationControlled",
        why="no automation hint in the page: sites refuse guests for it",
        modes=WINDOWED,
    ),
    Flag(
        text="--window-size=1280,863",
        why="a page of 1280x720: the window's own frame takes 143 lines; smaller gets the sites' telephone layout",
        modes=WINDOWED,
    ),
    Flag(text="--window-position=0,0", why="no window manager on our display", modes=("headful",)),
    Flag(text="--test-type", why="hides the bar about the missing sandbox, which would cover the page", modes=WINDOWED),
    Flag(text="--disable-gpu", why="there is none; saves probing for it", modes=(SHELL,)),
    Flag(
        text="--disable-software-rasterizer",
        why="-11 MiB private in the GPU process (measured); WebGL goes, which only the real services would notice",
        modes=(SHELL,),
    ),
)

# Switches that the driver gives every browser and that ours omit.
NOT_OF_DRIVER: Mapping[str, str] = {
    "--enable-automation": "no automation hint in the page, as above",
    "--disable-ipc-flooding-protection": "a page moves 200 times in ten seconds, not 300 times each millisecond: every"
    " move is told to the driver, which kept all browsers of a host from their answers for 26 s (measured)",
}

# Passed as one switch, because Chromium takes only the last of several; so the driver's own list is repeated.
DRIVER_DISABLES = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
DISABLED_FEATURES: Mapping[str, str] = {
    "AudioServiceOutOfProcess": "-15 MiB private, CPU unchanged (measured)",
    "SpareRendererForSitePerProcess": "no spare renderer: -6 MiB private, -0.2 CPU-s per start (measured)",
    "WebRtcHideLocalIpsWithMdns": "host candidates as addresses: no mDNS responder per connection",
    "WebUIOmniboxPopup": "no page of the browser's own below each address bar",
    "WebUIOmniboxAimPopup": "nor a second one: -43 MiB and -1 CPU-s per window for both (measured with four)",
    "Translate": "no language guessing on each page",
    "AcceptCHFrame": "no extra round trip before the first page",
    "Prerender2": "what a page has rendered beforehand is asked for without a look at where it leads",
    "Prerender2FallbackPrefetchSpecRules": "and would be fetched beforehand instead",
}
# Our list replaces the driver's, so its own are repeated.
ENABLED_FEATURES: Mapping[str, str] = {
    "CDPScreenshotNewSurface": "the driver's own",
    "SkipListAccountsWithoutGaiaCookies": "the driver's own",
}
# If rules lead to the operator's own machine, media comes from any port there.
WITHOUT_HOST_RULES: Mapping[str, str] = {
    "LocalNetworkAccessChecksWebRTC": "connections of a page send nothing, not even over TCP, to this network",
}

# Documents that a page has prefetched (speculation rules) are requested without a check of their address, and no switch
# of Chromium's prevents that while a driver is attached. These names and numbers lead nowhere; others would need TLS.
LOOPBACK = ("127.*", "localhost", "*.localhost", "0.*", "::*")
WEB_PORTS = ("80", "443")

# The part of our environment that a browser may see: a page that breaks out of its renderer reads no secret there.
KNOWN_VARIABLES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "DISPLAY", "XAUTHORITY"}
)
KNOWN_PREFIXES = ("LC_", "XDG_", "FONTCONFIG_", "CHROME_", "DBUS_")
# Variables that name places of our user, which another user cannot reach.
OF_OUR_USER = ("USER", "LOGNAME", "SHELL", "XDG_", "DBUS_", "XAUTHORITY")


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchProfile:
    """Everything needed to start one browser."""

    executable: Path
    headless: bool
    sandbox: bool
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    user: OtherUser | None = None  # the user it runs as; None for our own


def launch_profile(
    settings: BrowserSettings,
    mode: Mode,
    *,
    temporary: Path,
    display: str | None = None,
    authority: Path | None = None,
    endpoints: Iterable[str] = (),
    loopback: bool = True,
    user: OtherUser | None = None,
) -> LaunchProfile:
    """Return how to start a browser of this mode. Raises SetupError when the program is missing.

    Args:
        temporary: where it writes its files while it runs; the home of another user.
        display: the X display of a headful one.
        authority: the file with that display's cookie; None keeps the one of our own environment.
        endpoints: address:port on this machine or network that its pages may reach.
        loopback: whether names and numbers of this machine lead anywhere but to those.
        user: the user it runs as, if not our own.
    """
    environment = child_environment(user, temporary)
    if display is not None:
        environment["DISPLAY"] = display
    if authority is not None:
        environment["XAUTHORITY"] = str(authority)
    executable = find_executable(settings, mode)
    sandbox = wants_sandbox(settings, executable, user)
    return LaunchProfile(
        executable=executable,
        headless=mode != HEADFUL,
        sandbox=sandbox,
        arguments=(*arguments(settings, mode, sandbox=sandbox, endpoints=endpoints, loopback=loopback),),
        environment=environment,
        user=user,
    )


def usual_mode(settings: BrowserSettings) -> Mode:
    """Return the mode of a browser if no other one is requested."""
    if settings.mode != "auto":
        return settings.mode
    return SHELL if settings.host_rules else HEADFUL


def child_environment(user: OtherUser | None, temporary: Path) -> dict[str, str]:
    """Return the environment of a browser or its display: the permitted part of ours, and where it writes."""
    environment = {
        name: value for name, value in os.environ.items() if name in KNOWN_VARIABLES or name.startswith(KNOWN_PREFIXES)
    }
    if user is not None:
        environment = {name: value for name, value in environment.items() if not name.startswith(OF_OUR_USER)}
        environment["HOME"] = str(temporary)
    return {**environment, OWNER_VARIABLE: owner_mark(), "TMPDIR": str(temporary)}


def public_endpoints(host_rules: str | None) -> Iterable[str]:
    """Yield address:port of the rules' targets; the web's own ports if a rule names none.

    A rule that maps a meeting's host to this machine or network permits that place only.
    """
    for rule in (host_rules or "").split(","):
        words = rule.split()
        if len(words) == 3 and words[0].upper() == "MAP":
            host, _, port = words[2].rpartition(":")
            host, ports = (host, (port,)) if host and port.isdigit() else (words[2], WEB_PORTS)
            yield from (f"{address}:{number}" for address in _addresses(host) for number in ports)


def _addresses(host: str) -> Iterable[str]:
    # Yields the addresses of a host as Chromium writes them, if it has any.
    with contextlib.suppress(ValueError):
        address = ip_address(host.strip("[]"))
        yield f"[{address}]" if address.version == 6 else str(address)
        return
    with contextlib.suppress(OSError, ValueError):  # no such name, or no name: ~NOTFOUND
        addresses = {
            str(socket_address[0]) for *_, socket_address in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        }
        yield from (f"[{address}]" if ":" in address else address for address in sorted(addresses))


def arguments(
    settings: BrowserSettings,
    mode: Mode,
    *,
    sandbox: bool = False,
    endpoints: Iterable[str] = (),
    loopback: bool = True,
) -> Iterable[str]:
    """Yield the command line of one browser, from the flag table and the operator's settings.

    Pages of public sites reach nothing on this machine or in its network: the browser asks for a permission that
    nobody gives. `endpoints` (address:port) count as public, so that pages can reach them, such as our own socket.
    """
    yield "--ip-address-space-overrides=" + ",".join(
        f"{endpoint}=public" for endpoint in dict.fromkeys((*endpoints, *public_endpoints(settings.host_rules)))
    )
    yield from (flag.text for flag in FLAGS if mode in flag.modes)
    yield "--disable-features=" + ",".join((*DRIVER_DISABLES, *DISABLED_FEATURES))
    yield "--enable-features=" + ",".join((*ENABLED_FEATURES, *(() if settings.host_rules else WITHOUT_HOST_RULES)))
    if not sandbox:
        yield "--no-sandbox"
    rules = (settings.host_rules, *([] if loopback else _off_loopback(endpoints)))
    if any(rules):
        yield "--host-resolver-rules=" + ",".join(rule for rule in rules if rule)
    if settings.ignore_certificate_errors:
        yield "--ignore-certificate-errors"


def _off_loopback(endpoints: Iterable[str]) -> Iterable[str]:
    # These rules hide this machine except for its endpoints; the first rule that matches applies.
    yield from (f"MAP {endpoint} {endpoint}" for endpoint in endpoints)
    yield from (f"MAP {pattern} ~NOTFOUND" for pattern in LOOPBACK)


def find_executable(settings: BrowserSettings, mode: Mode) -> Path:
    """Return the browser's program: the configured one, else one of this machine. Raises SetupError with the remedy."""
    configured = settings.shell_executable if mode == SHELL else settings.executable
    if configured is not None:
        if not os.access(configured, os.X_OK):
            raise SetupError(f"{configured} is no program that can be started. {REMEDIES[mode]}")
        return configured
    for candidate in PROGRAMS[mode]:
        path = shutil.which(candidate)
        if path is not None:
            return Path(path)
    if mode == SHELL:
        # Not every system packages the shell; headless Chromium works as well, with some more memory.
        return find_executable(settings, HEADLESS)
    raise SetupError(f"No browser for mode '{mode}' was found. {REMEDIES[mode]}")
