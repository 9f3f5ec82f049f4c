"""The routes of meeting accounts: adding, checking, and signing in by hand in a host's browser."""

from collections.abc import Sequence

from sederunt.api.resources import meeting_accounts, sign_in_windows
from sederunt.api.route import RequestBody, Route
from sederunt.api.schemas.account_requests import (
    MeetingAccountFields,
    SignInInputFields,
    SignInKeepFields,
    SignInWindowFields,
)
from sederunt.platforms.registry import services_taking
from sederunt.platforms.sign_in_pages import AccountKind

_EXAMPLE_ACCOUNT = {
    "service": services_taking(AccountKind.SESSION)[0],
    "email": "minutes@example.org",
    "password": "correct horse battery",
}

MEETING_ACCOUNT_ROUTES: Sequence[Route] = (
    Route(
        method="POST",
        path="/meeting-account",
        handler=meeting_accounts.add_meeting_account,
        name="addMeetingAccount",
        summary="Keep an account that bots sign in with",
        tag="Credentials",
        answer="MeetingAccount",
        body=RequestBody(
            model=MeetingAccountFields,
            example=_EXAMPLE_ACCOUNT,
        ),
        permission="manage",
        links=("getMeetingAccount", "checkMeetingAccount", "removeMeetingAccount"),
    ),
    Route(
        method="GET",
        path="/meeting-account",
        handler=meeting_accounts.list_meeting_accounts,
        name="listMeetingAccounts",
        summary="List meeting accounts, oldest first",
        tag="Credentials",
        answer="MeetingAccountList",
        query=("limit", "cursor"),
        refusals=(400,),
    ),
    Route(
        method="GET",
        path="/meeting-account/{id}",
        handler=meeting_accounts.get_meeting_account,
        name="getMeetingAccount",
        summary="A meeting account, without what is secret of it",
        tag="Credentials",
        answer="MeetingAccount",
    ),
    Route(
        method="POST",
        path="/meeting-account/{id}/check",
        handler=meeting_accounts.check_meeting_account,
        name="checkMeetingAccount",
        summary="Sign in at the site as a bot would, and tell whether it lets the account in",
        tag="Credentials",
        answer="CheckedMeetingAccount",
        permission="manage",
        refusals=(409,),
    ),
    Route(
        method="DELETE",
        path="/meeting-account/{id}",
        handler=meeting_accounts.remove_meeting_account,
        name="removeMeetingAccount",
        summary="Forget a meeting account",
        tag="Credentials",
        answer="Message",
        permission="manage",
    ),
    Route(
        method="POST",
        path="/sign-in-window",
        handler=sign_in_windows.open_window,
        name="openSignInWindow",
        summary="Open a browser on a host, in which an account is signed in by hand",
        tag="Credentials",
        answer="SignInWindow",
        body=RequestBody(
            model=SignInWindowFields,
            example={name: _EXAMPLE_ACCOUNT[name] for name in ("service", "email")},
        ),
        permission="manage",
        refusals=(409,),
        links=("lookIntoSignInWindow", "actInSignInWindow", "keepSignInWindow", "closeSignInWindow"),
    ),
    Route(
        method="GET",
        path="/sign-in-window/{id}/picture",
        handler=sign_in_windows.look,
        name="lookIntoSignInWindow",
        summary="What a sign-in window shows next; nulls where nothing changes for some seconds",
        tag="Credentials",
        answer="SignInPicture",
        query=("after-picture",),
        permission="manage",
        refusals=(400,),
    ),
    Route(
        method="POST",
        path="/sign-in-window/{id}/input",
        handler=sign_in_windows.act,
        name="actInSignInWindow",
        summary="Pass pointer and keys on to a sign-in window",
        tag="Credentials",
        answer="Message",
        body=RequestBody(
            model=SignInInputFields,
            example={"inputs": [["move", 0.5, 0.4], ["down", 0, 1], ["up", 0, 1], ["type", "minutes@example.org"]]},
        ),
        permission="manage",
        refusals=(409,),
        unwritten=True,
    ),
    Route(
        method="POST",
        path="/sign-in-window/{id}/keep",
        handler=sign_in_windows.keep,
        name="keepSignInWindow",
        summary="Make what a sign-in window remembers the meeting account, and close it",
        tag="Credentials",
        answer="KeptSignIn",
        body=RequestBody(model=SignInKeepFields, example={"anyway": False}),
        permission="manage",
        refusals=(409,),
        unwritten=True,
    ),
    Route(
        method="DELETE",
        path="/sign-in-window/{id}",
        handler=sign_in_windows.close,
        name="closeSignInWindow",
        summary="Close a sign-in window; nothing of it is kept",
        tag="Credentials",
        answer="Message",
        permission="manage",
        unwritten=True,
    ),
)
