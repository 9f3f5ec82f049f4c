"""Texts that the real sites were seen to show in place of those the practice sites show; one is drawn by a seed.

The practice sites were written with the words on the left. An adapter that knew only those would fail here.
"""

import random
from collections.abc import Mapping, Sequence

_MEET_INVALID = (
    "Invalid video call name",
    "The meeting code you entered doesn't work",
    "Your meeting code has expired",
    "Meeting not found",
    "Invalid meeting",
    "Meeting link expired",
)
_MEET_LOBBY = (
    "Asking to join",
    "Please wait until a meeting host brings you into the call",
    "Please wait until a meeting host admits you to the call",
    "Waiting for the host to let you in",
    "You're in the waiting room",
    "Your request to join",
)
_TEAMS_LOBBY = (
    "Someone will let you in soon",
    "Someone in the meeting should let you in soon",
    "We've let people in the meeting know you're waiting",
    "You're in the lobby",
    "Waiting for someone to let you in",
    "Your request to join has been sent",
)
_ZOOM_WAITING = (
    "The host will let you in soon",
    "Host has joined. We've let them know you're here",
    "You will be admitted shortly",
)

ALTERNATIVES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "gmeet": {
        "What's your name?": ("Ready to join?",),
        "Ask to join": ("Ask to join anyway",),
        "Join now": ("Join anyway", "Join the call now", "Join", "Join meeting", "Enter meeting", "Join here too"),
        "Do you want people to see and hear you in the meeting?": ("Do you want people to hear you in the meeting?",),
        "Continue without microphone and camera": ("Continue without microphone", "Continue without camera"),
        "Asking to be let in": _MEET_LOBBY,
        "You'll join the call when someone lets you in": _MEET_LOBBY,
        "Someone in the call denied your request to join": (
            "Your request to join was denied",
            "You weren't allowed to join",
        ),
        "No one responded to your request to join the call": ("You left the meeting",),
        "Ask to join again": ("Return to home screen",),
        "Check your meeting code": _MEET_INVALID,
        "Make sure you entered the correct meeting code in the URL": _MEET_INVALID,
        "The meeting code you entered doesn't work": _MEET_INVALID,
        "This meeting has ended": ("Meeting has ended",),
        "You've been removed from the meeting": ("You were removed from the meeting", "Removed from meeting"),
        "Your host ended the meeting for everyone": ("The call ended", "Meeting ended", "Call ended"),
        "This video call is being recorded": (
            "This video call is being transcribed",
            "Gemini is taking notes for this call",
        ),
        "Chat with everyone": ("Chat with everyone - New message",),
        "Show everyone": ("People", "People - 3 joined"),
    },
    "teams": {
        "Join meeting from this browser": ("Continue on this browser", "Join on this browser"),
        "Continue on this browser": ("Join on this browser",),
        "Someone will let you in shortly": _TEAMS_LOBBY,
        "Sorry, but you were denied access to the meeting.": (
            "Your request to join was declined",
            "You were denied entry",
            "Access denied",
        ),
        "Looks like the meeting URL is incorrect. Please check the URL and try again.": ("Meeting not found",),
        "The meeting has ended": ("This meeting has ended", "Meeting ended", "Call ended"),
        "You've been removed from this meeting": ("Removed from the meeting", "You've been removed from the meeting"),
        "To join this Teams meeting, you need to be signed in to an account.": (
            "You need to be signed in to Teams to access this meeting",
            "Due to org policy, you need to sign in or use Teams on the web to join this meeting.",
            "We need to verify your info before you can join",
        ),
        "Sign in to Teams to join, or contact the meeting organizer": (
            "To join, sign in or use Teams on the web",
            "To join this meeting, sign in again or select another account.",
        ),
        "Leave": ("Leave (Ctrl+Shift+H)",),
    },
    "zoom": {
        "Please wait, the meeting host will let you in soon.": _ZOOM_WAITING,
        "Waiting for the host to start the meeting.": (
            "Waiting for the host to start this meeting",
            "Please wait for the host to start this meeting.",
        ),
        "The host has another meeting in progress": ("Cannot not host another meeting concurrently.",),
        "The meeting has been ended": ("This meeting has been ended by your admin", "This meeting has ended"),
        "This meeting has been ended by host": (
            "The meeting has been ended",
            "This meeting has been ended by your admin",
            "This free Zoom meeting has ended",
        ),
        "This meeting link is invalid (3,001)": ("Invalid meeting ID",),
        "Sign in to join this meeting": (
            "This meeting requires authentication",
            "Only authenticated users can join",
            "Sign in using an email address that is authorized to join this meeting.",
        ),
        "Host has locked this meeting.": (
            "The meeting has been locked by the host",
            "You cannot join this conference now because the host locked it.",
        ),
        "Join Audio by Computer": ("Join with Computer Audio", "Join Computer Audio"),
        "This meeting is being recorded": ("This meeting is being transcribed",),
        "By staying in this meeting, you consent to being recorded.": (
            "By continuing to be in the meeting, you are consenting to be recorded.",
        ),
        "Got it": ("OK",),
    },
}


def other_words(service: str, seed: int) -> dict[str, str]:
    """One alternative for each text of a site."""
    draw = random.Random(f"{service}/{seed}")
    return {shown: draw.choice(others) for shown, others in ALTERNATIVES[service].items()}
