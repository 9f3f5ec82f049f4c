"""Read refusals by what they mean: stems of the sentences that sites use, in the languages in which they show them.

A site's own table knows its wordings. Where it words a refusal in another way, or in another language though English
was asked for, these rows read the sentence below the heading. They count only where no way on is left: a page that
offers its name field, its button to join, a lobby or the call's controls refuses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sederunt.model.status import StopReason
from sederunt.platforms.evidence import EvidenceRow, Phase
from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Rows

SEEN = "2026-11"
SOURCE = "K own"
# A sentence is shown whole, and stays. A page that is still being built may merely offer to sign in.
SETTLE_S, SIGN_IN_SETTLE_S = 1.0, 6.0

_MEETING = r"(?:meeting|call|conference|room|session|webinar|event|lobby)"
_SITZUNG = r"(?:besprechung|meeting|videoanruf|anruf|videokonferenz|konferenz|raum|termin)"
_REUNION = r"(?:r[ée]uni[oó]n|r[ée]union|appel|llamada|videollamada|conf[ée]rence|conferencia|salle|sala)"
_RIUNIONE = r"(?:riunione|chiamata|videochiamata|reuni[aã]o|chamada|vergadering|gesprek)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """What a refusal says, and the stems by which it is known: English, German, Romance languages, Dutch, Japanese."""

    state: PageState
    reason: StopReason | None
    stems: tuple[str, ...]


MEANINGS: Mapping[str, Meaning] = {
    "locked": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        stems=(
            rf"\b{_MEETING} (?:is|has been|was) (?:now |currently )?locked",
            rf"\block(?:ed)? (?:this|the|your) {_MEETING}",
            rf"{_SITZUNG} (?:ist|wurde) (?:derzeit |vom \w+ )?(?:gesperrt|abgeschlossen|geschlossen)",
            rf"{_REUNION} (?:est|a été|está|ha sido|fue) (?:verrouill|bloque|cerrad)",
            rf"{_RIUNIONE} (?:è|è stata|está|foi|is) (?:stata )?(?:bloccat|bloquead|trancad|vergrendeld)",
            r"会議.{0,8}ロック",
        ),
    ),
    "full": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        stems=(
            rf"\b{_MEETING} (?:is|has become) (?:already |currently |now )?(?:full|at (?:full )?capacity)(?! of)",
            rf"\b{_MEETING} has reached (?:its|the|their) (?:\w+ )?(?:limit|capacity|maximum)",
            r"\b(?:participant|attendee|people|capacity|time) limit (?:has been |was |is )?(?:reached|exceeded)",
            r"\b(?:maximum|too many) (?:number of )?(?:participants|people|attendees|guests)",
            r"\bcapacity has been reached|\ballowed capacity|\bno (?:more )?(?:room|seats?|space) (?:left|available)",
            rf"{_SITZUNG} (?:ist|hat) (?:bereits |schon )?(?:voll|die maximale)|maximale teilnehmer|teilnehmerzahl",
            rf"{_REUNION} (?:est|está|ha alcanzado|a atteint) (?:compl[eè]t|llen|el (?:l[ií]mite|m[aá]ximo)|le "
            rf"(?:nombre|maximum))",
            rf"{_RIUNIONE} (?:è|está|is|ha raggiunto|atingiu) (?:al complet|pien|chei|lotad|vol\b|il "
            rf"(?:limite|numero)|o limite)",
            r"(?:会議|通話).{0,6}(?:満員|上限|定員)",
        ),
    ),
    "not_allowed": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        stems=(
            rf"\b(?:aren't|are not|weren't|were not|isn't|is not|not) (?:allowed|permitted|authori[sz]ed) (?:to "
            rf"(?:join|enter|access)|in(?:to)?) (?:this|the|a) {_MEETING}",
            rf"\b(?:don't|do not) have (?:permission|access) (?:to|for) (?:join |enter |access )?(?:this|the) "
            rf"{_MEETING}",
            r"nicht berechtigt|keine berechtigung|darfst? nicht (?:teilnehmen|beitreten)",
            r"n'êtes pas autoris|no tienes? permiso|no est[aá]s? autorizad",
            r"non hai l'autorizzazione|non sei autorizzat",
            r"n[aã]o tem permiss[aã]o|geen toestemming|参加が許可されていません|参加できる権限",
        ),
    ),
    "invited_only": Meaning(
        state=PageState.SIGN_IN_NEEDED,
        reason=None,
        stems=(
            r"\bonly (?:people|those|users|guests|participants|members) (?:who (?:are|were|have been) "
            r")?(?:invited|on the (?:guest|invite) list)",
            rf"\b(?:invited|invite[- ]only|invitation[- ]only) (?:guests|people|participants|{_MEETING})? ?only\b",
            r"\binvit(?:e|ation)[- ]only\b",
            r"nur (?:eingeladene|personen, die eingeladen)|seules? les personnes invit",
            r"solo (?:las personas|los) invitad",
            r"solo (?:le persone|gli) invitat|apenas (?:pessoas )?convidad|alleen (?:genodigden|uitgenodigde)",
            r"招待された",
        ),
    ),
    "organisation": Meaning(
        state=PageState.SIGN_IN_NEEDED,
        reason=None,
        stems=(
            r"\bonly (?:people|users|members|accounts|participants) (?:in|from|of|within|inside|at) "
            r"(?:this|the|your|their|that) (?:\w+ )?(?:organi[sz]ation|company|domain|school)",
            r"\b(?:outside|external to) (?:of )?(?:this|the|your|their) (?:organi[sz]ation|company|domain)",
            r"\b(?:organi[sz]ation|admin(?:istrator)?|company|org) (?:policy|settings?) "
            r"(?:requires?|(?:does|do)(?:n't| not) allow|prevents?)",
            r"(?:außerhalb|nur personen) (?:in )?(?:deiner|ihrer|dieser|der) organisation",
            r"(?:en dehors|membres) de (?:votre|cette|l'|l’)? ?organisation",
            r"(?:fuera|miembros) de (?:tu|su|esta|la) organizaci|fora d[ae] (?:sua )?organiza",
            r"al di fuori dell'organizzazione",
        ),
    ),
    "signed_in": Meaning(
        state=PageState.SIGN_IN_NEEDED,
        reason=None,
        stems=(
            rf"\b(?:you )?(?:must|need to|have to|required to) (?:be )?(?:signed|sign|logged|log)[ "
            rf"-]?in\b.{{0,40}}(?:join|enter|access|{_MEETING})",
            r"\b(?:sign|log) in (?:with (?:an?|your) [\w ]{1,30}account )?to (?:join|enter|access|continue)",
            r"\b(?:guests?|anonymous users?) (?:can't|cannot|can not|aren't allowed to|are not allowed to|may "
            r"not) (?:join|enter)",
            r"(?:musst|müssen) (?:dich|sich) anmelden|(?:melde dich|melden sie sich) an, um",
            r"connectez-vous pour|inicia sesi[oó]n para",
            r"accedi per (?:partecipare|continuare)|faça login para|meld je aan om",
            r"ログインして参加|参加するにはログイン",
        ),
    ),
    "over": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.CALL_ALREADY_FINISHED,
        stems=(
            rf"\b(?:this|the|your) (?:\w+ )?{_MEETING} (?:has|is) (?:already )?(?:ended|over|finished|been ended)",
            rf"\b{_MEETING} (?:already )?ended\b",
            rf"{_SITZUNG} (?:ist|wurde) (?:bereits )?(?:beendet|zu ende|vorbei)",
            rf"{_REUNION} (?:est|a|ha) (?:déjà )?(?:termin|finaliz|finie?)",
            rf"{_RIUNIONE} (?:è|is|foi|terminou|foi encerrada) ?(?:terminat|finit|afgelopen|beëindigd|encerrad)?",
            r"会議は終了",
        ),
    ),
    "not_started": Meaning(
        state=PageState.LOBBY,
        reason=None,
        stems=(
            rf"\b{_MEETING} (?:hasn't|has not|isn't|is not) (?:yet )?(?:started|begun|open)(?: yet)?",
            rf"\b{_MEETING} (?:will|is going to) (?:start|begin) (?:soon|shortly|when)",
            rf"{_SITZUNG} (?:hat|wurde) noch nicht (?:begonnen|gestartet)",
            r"n'a pas (?:encore )?commenc|(?:todavía|aún) no ha (?:comenzado|empezado)",
            r"non è ancora iniziat|ainda não começou",
            r"nog niet begonnen|まだ開始(?:されて|して)",
        ),
    ),
}


def refusals_by_meaning(site: str, *, unless: tuple[str, ...]) -> tuple[EvidenceRow, ...]:
    """Make the rows of one site. `unless` are its signs that there is a way on."""
    rows = Rows(site, phase=Phase.BEFORE, unless=unless, seen=SEEN)
    return tuple(
        rows.stem(
            f"means.{name}",
            meaning.stems,
            SOURCE,
            state=meaning.state,
            reason=meaning.reason,
            settle_s=SIGN_IN_SETTLE_S if meaning.state is PageState.SIGN_IN_NEEDED else SETTLE_S,
        )
        for name, meaning in MEANINGS.items()
    )
