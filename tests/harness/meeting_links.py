"""Every form of a meeting's address that people paste, each list of one meeting; and what it is brought to."""

import base64
import json
from urllib.parse import quote

TENANT, ORGANISER = "11111111-2222-3333-4444-555555555555", "66666666-7777-8888-9999-000000000000"
THREAD = "19:meeting_ZmFjdHMtYXJlLWZhY3Rz@thread.v2"
CONTEXT = f'{{"Tid":"{TENANT}","Oid":"{ORGANISER}"}}'
PATH = f"/l/meetup-join/{quote(THREAD, safe='')}/0"
CLASSIC = f"https://teams.microsoft.com{PATH}?context={quote(CONTEXT, safe='')}"
SHORT = "https://teams.microsoft.com/meet/123456789012?p=AbC%2Fd"


def light(**coordinates: str) -> str:
    coords = base64.b64encode(quote(json.dumps(coordinates), safe="").encode()).decode()
    return f"https://teams.microsoft.com/light-meetings/launch?agent=web&version=1&coords={quote(coords, safe='')}"


TEAMS_CLASSIC_FORMS = [
    CLASSIC,
    CLASSIC.replace("%3A", "%3a").replace("%40", "%40"),
    quote(CLASSIC, safe=""),
    f"https://teams.microsoft.com/l/meetup-join/{THREAD}/0?context={CONTEXT}",
    f"https://teams.microsoft.com/l/meetup-join/{quote(quote(THREAD, safe=''), safe='')}/0"
    f"?context={quote(quote(CONTEXT, safe=''), safe='')}",
    f"https://teams.microsoft.com/v2/?meetingjoin=true#{PATH}?context={quote(CONTEXT, safe='')}&anon=true",
    f"https://teams.microsoft.com/_#{PATH}?context={quote(CONTEXT, safe='')}",
    "https://teams.microsoft.com/dl/launcher/launcher.html?url="
    + quote(f"/_#{PATH}?context={quote(CONTEXT, safe='')}&anon=true", safe="")
    + "&type=meetup-join&deeplinkId=1&directDl=true&msLaunch=true&suppressPrompt=true",
    light(conversationId=THREAD, tenantId=TENANT, organizerId=ORGANISER, messageId="0"),
    f"Click here to join the meeting <{CLASSIC}>",
    f"https://eur02.safelinks.protection.outlook.com/ap/t-59584e83/?url={quote(CLASSIC, safe='')}&data=05",
    f"https://www.google.com/url?q={quote(CLASSIC, safe='')}&sa=D",
]
TEAMS_SHORT_FORMS = [
    SHORT,
    "teams.microsoft.com/meet/123456789012?p=AbC%2Fd",
    "https://teams.microsoft.com/v2/?meetingjoin=true#/meet/123456789012?p=AbC%2Fd&anon=true",
    "https://teams.microsoft.com/dl/launcher/launcher.html?url="
    + quote("/_#/meet/123456789012?p=AbC%2Fd&anon=true", safe="")
    + "&type=meet",
    light(meetingCode="123456789012", passcode="AbC/d"),
]
ZOOM_FORMS = [
    "https://zoom.us/j/12345678901?pwd=aBc123.1",
    "https://us05web.zoom.us/j/12345678901?pwd=aBc123.1#success",
    "https://acme.zoom.us/j/12345678901?pwd=aBc123.1&uname=x",
    "https://zoom.com/j/12345678901?pwd=aBc123.1",
    "https://us02web.zoom.com/j/12345678901?password=aBc123.1",
    "zoom.us/j/12345678901?pwd=aBc123.1",
    "https://zoom.us/s/12345678901?pwd=aBc123.1",
    "https://zoom.us/w/12345678901?pwd=aBc123.1",
    "https://app.zoom.us/wc/12345678901/join?fromPWA=1&pwd=aBc123.1",
    "https://app.zoom.us/wc/12345678901/start?pwd=aBc123.1",
    "https://app.zoom.us/wc/join/12345678901?pwd=aBc123.1",
    "https://zoom.us/j/12345678901?pwd%3DaBc123.1",
    "https://www.google.com/url?q=https%3A%2F%2Fzoom.us%2Fj%2F12345678901%3Fpwd%3DaBc123.1&sa=D",
    "'https://zoom.us/j/12345678901?pwd=aBc123.1'",
    "Join Zoom Meeting\nhttps://zoom.us/j/12345678901?pwd=aBc123.1\n\nMeeting ID: 123 4567 8901",
]
GMEET_FORMS = [
    "https://meet.google.com/abc-defg-hij",
    "https://meet.google.com/ABC-defg-HIJ/",
    "https://meet.google.com/abcdefghij",
    "http://meet.google.com/abc-defg-hij",
    "https:/meet.google.com/abc-defg-hij".replace(":/m", "://m"),
    "meet.google.com/abc-defg-hij",
    "www.meet.google.com/abc-defg-hij",
    '"https://meet.google.com/abc-defg-hij"',
    "'https://meet.google.com/abc-defg-hij'",
    "<https://meet.google.com/abc-defg-hij>",
    "“https://meet.google.com/abc-defg-hij”",
    "https://meet.google.com/abc-defg-hij>.",
    "https://meet.google.com/abc-defg-hij,",
    "  https://meet.google.com/abc-defg-hij\n",
    "Join us: https://meet.google.com/abc-defg-hij - see you there",
    "https://meet.google.com/abc-defg-hij?authuser=1&pli=1&hs=178",
    "https://meet.google.com/%61bc-defg-hij",
    "https%3A%2F%2Fmeet.google.com%2Fabc-defg-hij",
    "https%253A%252F%252Fmeet.google.com%252Fabc-defg-hij",
    "https://www.google.com/url?q=https%3A%2F%2Fmeet.google.com%2Fabc-defg-hij&sa=D&source=calendar",
    "https://www.google.de/url?sa=t&url=https://meet.google.com/abc-defg-hij",
    "https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fmeet.google.com%2Fabc-defg-hij&data=05",
    "\u200bhttps://meet.google.com/abc-defg-hij\xa0",
]
