"""Microsoft's sign-in pages: fields, buttons, and the pages after them. Source tags and dates: docs/platforms.md."""

from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Rows, Targets
from sederunt.platforms.sign_in_pages import SignInPages
from sederunt.platforms.sign_in_tables import (
    ASIDE,
    CAPTCHA_PX,
    HOST_END,
    chooser,
    first_rows,
    journey,
    last_rows,
    second_step,
)
from sederunt.platforms.targets import Step

_SEEN = "2026-11"
_target = Targets("teams.sign_in", seen=_SEEN)
_rows = Rows("teams.sign_in", seen=_SEEN)
_challenged = Rows("teams.sign_in", seen=_SEEN, state=PageState.CHALLENGED, settle_s=1.0)
_rejected = Rows("teams.sign_in", seen=_SEEN, state=PageState.SIGN_IN_REJECTED, unless=("teams.sign_in.unsent",))
# Some of these questions may be postponed, or answered with the password.
_asked_more = Rows(
    "teams.sign_in",
    seen=_SEEN,
    state=PageState.SIGN_IN_NEEDED,
    unless=("teams.sign_in.password_field",),
    settle_s=6.0,
)

_LOGIN = r"(?:[a-z0-9-]+\.)*login\.(?:microsoftonline\.(?:com|us)|microsoft\.com|windows\.net|live\.com)" + HOST_END
_OFFICE_LOGIN = r"(?:www\.)?(?:office|microsoft365)\.com(?::\d+)?/login(?:[/?#]|$)"
_FAMILY = (
    r"(?:[a-z0-9-]+\.)*(?:(?:office|office365|microsoft365|outlook|sharepoint)\.com|cloud\.microsoft|"
    r"teams\.microsoft\.(?:com|us)|teams\.live\.com)" + HOST_END
)
_HOME = rf"^https://(?!{_LOGIN}|{_OFFICE_LOGIN}|account\.){_FAMILY}"
_ELSEWHERE = rf"^https?://(?!{_LOGIN}|{_FAMILY})"
# The page of one field also contains the other, out of sight, for password managers.
_REAL = ':not([aria-hidden="true"]):not([type="hidden"]):not(.moveOffScreen)'

_ACCOUNT = _target(
    "account",
    "A P",
    selectors=(
        f'input[name="loginfmt"]{_REAL}',
        f"input#i0116{_REAL}",
        f"input#usernameEntry{_REAL}",
        f'input[type="email"]{_REAL}',
        f'input[autocomplete~="username"]{_REAL}',
    ),
)
_PASSWORD = _target(
    "password",
    "A P",
    selectors=(
        f'input[name="passwd"]{_REAL}',
        f"input#i0118{_REAL}",
        f"input#passwordEntry{_REAL}",
        f'input[type="password"]{_REAL}',
    ),
)
_SUBMIT = _target(
    "submit",
    "A P",
    selectors=('input[type="submit"]', "#idSIButton9", 'button[type="submit"]', '[data-testid="primaryButton"]'),
    names="Next | Sign in | Continue",
    backstops=("form button:not([type])",),
    but_not="Back | Create one! | Forgot password? | Sign-in options | Cancel",
)
_STAY = _target(
    "stay",
    "A K P",
    selectors=("#idSIButton9", "#acceptButton", '[data-testid="primaryButton"]', 'input[type="submit"]'),
    names="Yes",
    within=("body",),
    holding="Stay signed in? | Angemeldet bleiben? | Rester connecté | "
    "mantener la sesión iniciada | Continuar conectado | Manter sessão iniciada | Rimanere connessi | "
    "Aangemeld blijven? | サインインの状態を維持",
)
# The same page, recognised by its elements in any language.
_STAY_FORM = _target(
    "stay_form",
    "K",
    selectors=('form:has(#KmsiCheckboxField) input[type="submit"]', "body:has(#KmsiDescription) #idSIButton9"),
)
_BY_PASSWORD = _target(
    "by_password",
    "P",
    selectors=("#idA_PWD_SwitchToPassword",),
    names="Use your password instead | Use my password | Use your password | Sign in with a password instead",
)
# This does not bypass a code or a phone.
_OTHER_WAY = _target(
    "other_way",
    "P",
    names="Other ways to sign in | Sign in another way",
    within=("body",),
    holding="passkey | security key | fingerprint",
)
_WHICH = _target("which", "P K", selectors=("#aadTile",))
_LATER = _target(
    "later",
    "K",
    selectors=("#btnAskLater",),
    names="Ask later | Skip for now* | Not now | Maybe later | Skip setup",
)
_FIELDS = (_ACCOUNT.id, _PASSWORD.id)

ROWS = (
    *first_rows(_rows, _PASSWORD),
    _challenged.selector(
        "captcha",
        (
            '[data-tid="HIP-Captcha-Image"]',
            'iframe[src*="captcha"]',
            'iframe[title*="captcha" i]',
            'iframe[src*="arkoselabs"]',
            "#enforcementFrame",
            'img[src*="GetHIP"]',
        ),
        "A LMA K",
        least_px=CAPTCHA_PX,
    ),
    _challenged.text(
        "robot",
        "Verify you're a real person | Verify you are a real person | Help us beat the robots | "
        "prove you're not a robot | prove you're human | Let's prove you're human | Enter the characters you see | "
        "unusual activity",
        "A LMA K",
    ),
    _rejected.selector(
        "refused_field",
        (
            "#usernameError",
            "#passwordError",
            "#i0116Error",
            "#i0118Error",
            "#idTD_Error",
            '[id$="__validationMessage"]',
        ),
        "A P",
    ),
    _rejected.text(
        "refused",
        "Your account or password is incorrect | password is incorrect | incorrect account or password | "
        "This username may be incorrect | We couldn't find an account with that username | "
        "We couldn't find a Microsoft account | That Microsoft account doesn't exist | Enter a valid email address | "
        "account has been locked | account is temporarily locked | account has been disabled | "
        "Your password has expired | Update your password",
        "A K",
    ),
    _asked_more.selector(
        "verify_field",
        (
            'input[name="otc"]',
            "#idTxtBx_SAOTCC_OTC",
            "#idDiv_SAOTCS_Title",
            "#idDiv_SAOTCC_Title",
            "#idDiv_SAOTCAS_Title",
            "#idDiv_SAASDS_Title",
            '[data-testid="authenticatorAppTitle"]',
            "#ProofUpDescription",
        ),
        "P",
    ),
    _asked_more.text(
        "verify",
        "Verify your identity | Verify it's you | Enter the code | Enter code | Enter your security code | "
        "Approve sign in request | Approve sign-in request | Check your Authenticator app | "
        "More information required | Action required | Help us protect your account | "
        "Let's keep your account secure | You cannot access this right now | You can't get there from here | "
        "Face, fingerprint, PIN or security key",
        "K",
    ),
    *second_step(_asked_more),
    *last_rows(
        _rows,
        home=_HOME,
        home_source="A B2 P",
        # For example an organisation's own pages: the password is not typed there.
        elsewhere=_rows.address("elsewhere", _ELSEWHERE, "K", state=PageState.SIGN_IN_NEEDED, settle_s=10.0),
        fields=(*_ACCOUNT.selectors, *_PASSWORD.selectors),
        fields_source="A P",
    ),
)

SIGN_IN = SignInPages(
    entry_urls=("https://www.office.com/login", "https://login.microsoftonline.com/"),
    hosts=rf"^https://(?:{_LOGIN}|{_OFFICE_LOGIN})",
    rows=ROWS,
    journey=journey(
        _ACCOUNT,
        _PASSWORD,
        _SUBMIT,
        *chooser(_target, _FIELDS),
        Step(target=_STAY, again_s=8.0, apart=_FIELDS),
        Step(target=_STAY_FORM, again_s=8.0, apart=_FIELDS),
        Step(target=_BY_PASSWORD, states=ASIDE, most=2, apart=_FIELDS),
        Step(target=_OTHER_WAY, states=ASIDE, most=1, apart=_FIELDS),
        Step(target=_WHICH, most=2, apart=_FIELDS),
        Step(target=_LATER, states=ASIDE, apart=_FIELDS),
    ),
    cookies=("ESTSAUTHPERSISTENT", "ESTSAUTH"),
)
