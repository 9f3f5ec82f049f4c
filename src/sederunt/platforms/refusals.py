"""Read refusals and endings by their meaning: stems of the sentences that sites use, in their languages.

A site's own table knows its wordings. If the site words a refusal differently, or in another language although English
was requested, these rows read the sentence below the heading. They count only if the page offers no way to go on: a
page with a name field, a button to join, a lobby or the call's controls refuses nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sederunt.model.status import MEETING_FULL, StopReason
from sederunt.platforms.evidence import EvidenceRow, Phase
from sederunt.platforms.notices import outside_panels
from sederunt.platforms.page_state import PageState
from sederunt.platforms.rows import Rows

SEEN = "2026-11"
SOURCE = "K own"
# A sentence appears complete and stays. A page that is still being built may merely offer to sign in.
SETTLE_S, SIGN_IN_SETTLE_S = 1.0, 6.0

_MEETING = r"(?:meeting|call|conference|room|session|webinar|event|lobby)"
_SITZUNG = r"(?:besprechung|meeting|videoanruf|anruf|videokonferenz|konferenz|raum|termin)"
_REUNION = r"(?:r[ée]uni[oó]n|r[ée]union|appel|llamada|videollamada|conf[ée]rence|conferencia|salle|sala)"
_RIUNIONE = r"(?:riunione|chiamata|videochiamata|reuni[aã]o|chamada|vergadering|gesprek|meeting)"
_HOST = (
    r"(?:host|gastgeber|organisator|veranstalter|hôte|organisateur|anfitri[oó]n|organizador|organizzatore|"
    r"anfitri[aã]o|organisator)\w*"
)
_OF_JAPAN = r"(?:会議|ミーティング|通話|ビデオ通話)"
_SOMEBODY = r"(?:host|organi[sz]er|owner|moderator|presenter|participant|someone|somebody|they)"


# Each in English, and in the other languages.
_REMOVED = (
    r"\byou(?:'ve| have)? (?:were|was|been|got) (?:removed|kicked|ejected|expelled)\b",
    rf"\b(?:{_SOMEBODY}|has|have) (?:removed|kicked|ejected|expelled) you\b",
    rf"\b(?:removed|kicked|ejected|expelled) you (?:from|out of) (?:the|this) {_MEETING}",
    # A heading without its subject. In the middle of a sentence the words are about somebody else.
    rf"^(?:removed|kicked|ejected|expelled) (?:from|out of) (?:the |this |your )?{_MEETING}\b",
    # Only a removed person is shown this: anybody else may ask again.
    rf"\byou(?:'re| are)? (?:can't|cannot|can not|unable to|not able to|not allowed to) "
    rf"(?:re-?join|(?:join|enter) (?:the |this )?{_MEETING} again)",
)
_REMOVED_ELSEWHERE = (
    r"\b(?:du wurdest|sie wurden|du bist|sie sind) .{0,40}(?:entfernt|ausgeschlossen|rausgeworfen)",
    rf"{_HOST} hat (?:sie|dich) .{{0,40}}(?:entfernt|ausgeschlossen)",
    r"vous avez été (?:retir|exclu|expuls|supprim)|vous a (?:retir|exclu|expuls|supprim)",
    r"(?:(?:te|le|lo|la) han?|has sido|ha sido) (?:expuls|elimin|quit|retir)",
    rf"\b(?:te|le|lo|la) (?:quit|elimin|expuls|retir|sac)(?:ó|aron) de (?:la |el |esta )?{_REUNION}",
    r"sei stat[oa] (?:rimoss|espuls)|ti ha (?:rimoss|espuls)|\bfoi (?:removid|expuls)|removeu você",
    r"\b(?:je|u) bent .{0,40}verwijderd|heeft (?:je|u) .{0,40}verwijderd",
    r"(?:削除|退出)(?:され|させられ)|から削除しました|移出|移除|踢出|내보내|내보냈|강제 퇴장",
    r"usunięto (?:cię|pana|panią)|został\S* usunięt|"
    r"(?:du har|du blev|du er blevet) .{0,8}(?:tagits bort|borttag|fjern)",
    r"вас (?:удалили|исключили)|вы были (?:удалены|исключены)|çıkarıldınız",
    rf"^aus (?:der|dem|diese[rm]) {_SITZUNG} (?:entfernt|ausgeschlossen)",
    rf"^(?:retirée?|exclue?|expulsée?|expulsad[oa]|eliminad[oa]) de (?:la |l'|cette |esta )?{_REUNION}",
    rf"^(?:rimoss[oa]|espuls[oa]|removid[oa]|expuls[oa]) d(?:a|alla|all'|este|esta) ?{_RIUNIONE}",
    r"(?:kannst|können) .{0,50}nicht (?:wieder|erneut|noch einmal) (?:beitreten|teilnehmen)",
    r"(?:pouvez|peux) (?:pas|plus) rejoindre|no puedes? volver a (?:unirte|unirse|entrar)",
    r"non puoi (?:rientrare|partecipare di nuovo)|n[aã]o pode voltar a (?:participar|entrar)|"
    r"再参加(?:する|は)?.{0,4}できません",
)
_OVER = (
    rf"\b(?:this|the|your) (?:[\w-]+ ){{0,2}}{_MEETING} (?:has|is) (?:already )?(?:ended|over|finished|been ended)",
    rf"\b{_MEETING} (?:already )?ended\b",
)
_OVER_ELSEWHERE = (
    rf"{_SITZUNG} (?:ist|wurde) (?:bereits |schon )?(?:vo[nm] \w+ )?(?:beendet|zu ende|vorbei)",
    rf"{_HOST} hat (?:diese[sn]? |das |den |die ){_SITZUNG} .{{0,12}}beendet",
    rf"{_REUNION} (?:est|a|ha) (?:déjà |ya )?(?:été |sido )?(?:termin|finaliz|finie?|interromp)",
    rf"{_REUNION} (?:terminó|finalizó)",
    rf"{_HOST} (?:a mis fin à|ha (?:finalizado|terminado|terminato)|finalizó|terminó|encerrou|terminou)",
    rf"{_HOST} heeft .{{0,40}}beëindigd",
    rf"{_RIUNIONE} (?:(?:è|is|foi) (?:già |stata |al |já )?(?:terminat|finit|conclus|afgelopen|beëindigd|encerrad)|"
    rf"terminou|acabou)",
    rf"{_OF_JAPAN}(?:は|を|が).{{0,12}}終了|(?:chiamata|riunione) terminata",
    r"(?:会议|會議|通话|通話|会話).{0,4}(?:结束|結束)|(?:회의|통화|미팅)[가는이]? .{0,6}종료",
    r"(?:spotkanie|rozmowa|połączenie) .{0,12}zakończ|"
    r"(?:mötet|samtalet|møtet|mødet) (?:har|är|er) .{0,10}(?:avslut|slut)",
    r"(?:встреча|звонок|конференция|собрание) (?:завершен|окончен)|(?:toplantı|görüşme) .{0,6}(?:sona erdi|bitti)",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """The meaning of a refusal or an ending, and its stems: English, German, Romance languages, Dutch, Japanese."""

    state: PageState
    reason: StopReason | None
    stems: tuple[str, ...]
    cause: str = ""


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
            rf"hat (?:diese|dieses|diesen|das|den|die) {_SITZUNG} (?:gesperrt|abgeschlossen)",
            rf"(?:verrouillé|bloqueado|bloccato|bloqueou|trancou) (?:la|cette|le|cet|esta|este|questa|a) (?:{_REUNION}|"
            rf"{_RIUNIONE})",
            rf"{_OF_JAPAN}.{{0,8}}ロック",
        ),
    ),
    "full": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        cause=MEETING_FULL,
        stems=(
            rf"\b{_MEETING} (?:is|has become) (?:already |currently |now )?(?:full|at (?:full )?capacity)(?! of)",
            rf"\b{_MEETING} has reached (?:its|the|their) (?!time )(?:\w+ )?(?:limit|capacity|maximum)",
            r"\b(?:participant|attendee|people|capacity) limit (?:has been |was |is )?(?:reached|exceeded)",
            r"\b(?:maximum|too many) (?:number of )?(?:participants|people|attendees|guests)",
            r"\bcapacity has been reached|\ballowed capacity|\bno (?:more )?(?:room|seats?|space) (?:left|available)",
            rf"{_SITZUNG} (?:ist|hat) (?:bereits |schon )?(?:voll|die maximale)|maximale teilnehmer|teilnehmerzahl",
            rf"{_REUNION} (?:est|está|ha alcanzado|a atteint) (?:compl[eè]t|llen|el (?:l[ií]mite|m[aá]ximo)|le "
            rf"(?:nombre|maximum))",
            rf"{_RIUNIONE} (?:è|está|is|ha raggiunto|atingiu) (?:al complet|pien|chei|lotad|vol\b|il "
            rf"(?:limite|numero)|o limite)",
            rf"{_OF_JAPAN}.{{0,6}}(?:満員|上限|定員)",
        ),
    ),
    "denied": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        stems=(
            rf"\b{_SOMEBODY} (?:in the {_MEETING} )?(?:has |have )?(?:denied|declined|rejected|refused|turned down) "
            r"(?:you\b|your (?:request|entry|attempt))",
            r"\b(?:denied|declined|rejected|refused) your (?:request|entry|attempt)",
            rf"\b{_SOMEBODY} (?:did(?:n't| not)|won't|will not|would(?:n't| not)) (?:let|admit|allow) you\b",
            r"\byour request (?:to (?:join|enter)[\w ]{0,24} )?(?:was|has been) (?:not accepted|denied|declined|"
            r"rejected|refused|turned down)",
            r"\byou (?:were|have been) (?:denied|refused|turned away|not admitted)",
            rf"(?:anfrage|teilnahme) (?:wurde|ist) (?:\w+ )?(?:abgelehnt|verweigert)|{_SITZUNG} verweigert",
            r"hat (?:deine|ihre) anfrage .{0,30}(?:abgelehnt|verweigert)",
            r"demande (?:de participation )?a été (?:refus|rejet)|solicitud (?:ha sido|fue) (?:rechaz|deneg)",
            r"a (?:refus|rejet)é votre demande|accès .{0,30}\bété refusé",
            r"ha (?:rechaz|deneg)ado (?:tu|su) solicitud|(?:denegó|ha denegado|rechazó) (?:tu |su |el )?acceso",
            r"richiesta .{0,30}è stata (?:rifiutat|respint)|pedido .{0,30}foi (?:recusad|negad)",
            r"(?:ha rifiutato la tua|recusou (?:o seu|a sua)) (?:richiesta|pedido|solicitação)",
            r"verzoek .{0,30}is (?:geweigerd|afgewezen)|heeft je verzoek .{0,30}(?:geweigerd|afgewezen)",
            r"(?:リクエスト|参加|アクセス).{0,10}拒否|(?:请求|申请|請求|申請).{0,6}(?:拒绝|拒絕)|요청.{0,6}(?:거부|거절)",
            r"odmówiono|(?:prośba|prośbę) .{0,20}odrzucon|"
            r"(?:begäran|förfrågan|anmodning\S*) .{0,12}(?:avslog|nekad|avvis|afvist)",
            r"отказано|запрос .{0,16}отклон",
        ),
    ),
    "removed_from_lobby": Meaning(
        state=PageState.REFUSED, reason=StopReason.REQUEST_DENIED, stems=_REMOVED + _REMOVED_ELSEWHERE
    ),
    "not_allowed": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.REQUEST_DENIED,
        stems=(
            rf"(?<!guests )(?<!users )\b(?:aren't|are not|weren't|were not|isn't|is not|not) "
            rf"(?:allowed|permitted|authori[sz]ed) (?:to (?:join|enter|access)|in(?:to)?) (?:this|the|a) {_MEETING}",
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
            r"\binvit(?:e|ation)[- ]only\b|\bnot on the (?:guest|invite|invitation|attendee) list\b",
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
            r"\b(?:sign|log) in (?:(?:with|to|into) (?:an?|your) (?:[\w ]{1,30})?account )?to "
            r"(?:join|enter|access|continue)",
            r"\b(?:guests?|anonymous users?) (?:can't|cannot|can not|aren't allowed to|are not allowed to|may "
            r"not) (?:join|enter)|\bguests (?:aren't|are not) allowed\b|\bonly (?:signed|logged)[- ]in (?:users|people|"
            r"participants)",
            r"\b(?:you )?(?:need|must have) an account to (?:join|enter|continue)",
            r"(?:musst|müssen) (?:dich|sich) anmelden|(?:melde dich|melden sie sich) an, um",
            r"connectez-vous pour|inici[ae] sesi[oó]n para",
            r"accedi per (?:partecipare|continuare)|faça login para|meld je aan om",
            r"(?:ログイン|サインイン)して.{0,8}参加|参加するには.{0,8}(?:ログイン|サインイン)",
        ),
    ),
    "over": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.CALL_ALREADY_FINISHED,
        stems=(
            *_OVER,
            *_OVER_ELSEWHERE,
            r"\btime limit (?:has been |was |is )?(?:reached|exceeded)|\breached (?:its|the|their) time limit",
        ),
    ),
    "unknown": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.INVALID_MEETING_URL,
        stems=(
            rf"\b(?:this|that|the) {_MEETING} (?:does(?:n't| not) exist|(?:could(?:n't| not)|can(?:'t|not)) be found)",
            rf"\b(?:can't|cannot|couldn't|could not) find (?:that|this|the|your|a) {_MEETING}\b",
            rf"\binvalid {_MEETING} (?:link|id|code|url|number)|"
            rf"\bno {_MEETING} with (?:this|that) (?:id|code|link|number)",
            r"\b(?:code|link|url|id) (?:you \w+ )?(?:isn't valid|is not valid|has expired|"
            r"is (?:invalid|broken|expired|incorrect|wrong))",
            rf"{_SITZUNG} existiert nicht|{_REUNION} (?:n'existe pas|no existe)|"
            rf"{_RIUNIONE} (?:non esiste|não existe|bestaat niet)",
            r"überprüf\w* .{0,24}(?:code|link|-id)\b|(?:code|link|-id)\b.{0,12}(?:ungültig|abgelaufen)",
            r"vérifie\w* (?:le|votre) (?:code|lien)",
            r"(?:code|lien|identifiant)\b.{0,30}(?:pas valide|non valide|invalide|expiré|incorrect)",
            r"(?:compr[uo]eb|verifi|confir|controll)\w+ (?:el|o|il|tu|su) (?:código|codice|enlace|link)",
            r"(?:código|codice|enlace|vínculo|link)\b.{0,30}(?:no es válido|não é válido|non è valido|inválid|caducad|"
            r"scadut|expirou|incorrect)",
            r"controleer (?:de|je) (?:vergader|meeting|gespreks)?(?:code|link)|(?:code|link) .{0,16}ongeldig",
            r"(?:コード|リンク|id)(?:は|が|を).{0,8}(?:無効|確認|期限切れ|正しくありません)",
        ),
    ),
    "unanswered": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.WAITING_ROOM_TIMEOUT,
        stems=(
            r"\b(?:no ?-?one|nobody) (?:has )?(?:responded|answered|replied|reacted|let you in)",
            rf"\b{_SOMEBODY} (?:did(?:n't| not)|has(?:n't| not)) (?:respond|answer|repl)\w*(?! yet)\b(?! yet)",
            r"\brequest (?:to (?:join|enter) )?(?:has |was )?(?:timed out|expired)\b|\bwaited too long\b",
            r"anfrage .{0,12}abgelaufen|demande .{0,10}expiré|(?:solicitud|pedido) .{0,10}(?:caducad|expir)|"
            r"richiesta .{0,10}scadut|"
            r"verzoek .{0,10}verlopen",
            r"niemand hat .{0,40}(?:reagiert|geantwortet)|personne n'a répondu|nadie (?:ha respondido|respondió)",
            r"nessuno ha risposto|ninguém respondeu|niemand heeft .{0,40}(?:gereageerd|geantwoord)",
            r"(?:応答|返答|回答)(?:が|は)?(?:ありません|ない)|誰も.{0,12}(?:応答|返答|回答|承認)",
            r"nikt nie (?:odpowiedział|zareagował)|ingen (?:har )?(?:svar|reager)|никто не (?:ответил|отреагировал)",
            r"아무도.{0,20}(?:응답|답변)|没有人.{0,8}(?:回应|回复|响应)|無人.{0,4}回應|kimse.{0,12}(?:yanıt|cevap)",
        ),
    ),
    "host_elsewhere": Meaning(
        state=PageState.REFUSED,
        reason=StopReason.HOST_IN_ANOTHER_MEETING,
        stems=(
            rf"\b{_SOMEBODY} (?:has|is (?:already )?(?:in|hosting|running)) another {_MEETING}",
            rf"{_HOST} (?:hat|ist in) (?:bereits |gerade )?ein\w* andere[snmr]? {_SITZUNG}",
            rf"{_HOST} (?:a|est|tiene|está|ha|tem|è) (?:dans |en |in |em )?"
            rf"(?:une autre|otra|outra|un'altra|una) (?:{_REUNION}|{_RIUNIONE})",
            rf"(?:ホスト|主催者)は(?:別|他)の{_OF_JAPAN}",
        ),
    ),
    "waiting": Meaning(
        state=PageState.LOBBY,
        reason=None,
        stems=(
            r"(?:dich|sie|du) .{0,40}(?:hereinl(?:ä|a)ss|eingelassen|einlassen|eintreten)|warteraum|wartebereich",
            rf"(?:bitte )?warten sie.{{0,40}}{_HOST}|jemand lässt (?:sie|dich)",
            r"(?:laisser|laissera|laisse|autoriser|autorisera|autorise) .{0,24}(?:entrer|accès)|salle d'attente",
            rf"veuillez (?:patienter|attendre).{{0,40}}{_HOST}",
            rf"(?:permit|dej)\w* entrar|sala de espera|esper[ea].{{0,20}}{_HOST}",
            r"permit\w* (?:a )?(?:sua )?entrada|ti (?:farà|faranno|fa) entrare|sala d'attesa|binnenlaat|wachtruimte",
            r"承認されると|待機室|(?:ホスト|主催者).{0,20}(?:までお待ち|参加させます|開始するまで)|まもなく.{0,12}参加させます|参加を許可するまで",
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

# Sentences of a page after the bot was inside and the call's controls are gone.
ENDINGS: Mapping[str, Meaning] = {
    "removed": Meaning(
        state=PageState.REMOVED,
        reason=StopReason.KICKED,
        stems=_REMOVED + _REMOVED_ELSEWHERE,
    ),
    # Somebody moved the bot back into the lobby and refused it there.
    "not_let_back": Meaning(state=PageState.REMOVED, reason=StopReason.KICKED, stems=MEANINGS["denied"].stems),
    "ended": Meaning(
        state=PageState.OVER,
        reason=StopReason.MEETING_ENDED,
        stems=(
            *_OVER,
            *_OVER_ELSEWHERE,
            rf"\b{_SOMEBODY} (?:has |have )?(?:ended|closed|finished) (?:the|this|your) {_MEETING}",
            rf"\byou(?:'ve| have)? left (?:the|this) {_MEETING}|"
            rf"\beveryone (?:else )?(?:has )?left (?:the|this) {_MEETING}",
            rf"\bended (?:the|this|your) {_MEETING} for (?:everyone|all)|\bno longer have access to this {_MEETING}",
            r"\btime limit (?:has been |was |is )?(?:reached|exceeded)",
            rf"\b{_MEETING} (?:has )?reached (?:its|the|your) (?:[\w-]+ ){{0,2}}limit",
            r"zeitlimit .{0,30}(?:erreicht|abgelaufen)|limite de temps|durée maximale|límite de tiempo|tiempo límite|"
            r"limite de tempo|limite di tempo|tijdslimiet",
            r"\bsee you (?:next time|soon|again)\b|\bthanks? (?:you )?for (?:joining|attending|coming)|"
            rf"\b{_MEETING} (?:was|has been) (?:ended|closed|terminated)",
            # Questions that a site asks after a call.
            rf"\brate (?:the|your|this) (?:\w+ )?(?:quality|audio|sound|video|experience|{_MEETING})",
            r"\bhow (?:was|were|did) (?:it|the|your|this|everything)\b",
            r"\bwie war (?:es|der|die|das|deine?|ihre?)\b|\bhoe was (?:het|de|je|uw)\b",
            r"\bcomment (?:était|s'est passée?)\b|\bcómo (?:fue|estuvo|ha ido)\b|\bcomo foi\b|\bcom'(?:era|è andat)|"
            r"いかがでしたか",
            rf"{_SITZUNG} verlassen|vous avez quitté|has (?:salido|abandonado)|hai lasciato|você saiu|退出しました",
        ),
    ),
}

# A fault of the site itself during the call: the call may go on, and a fresh page finds out.
_FAULT = (
    r"\bsomething went wrong\b|\ban? (?:unexpected |unknown |internal )?error (?:has )?occurred\b",
    r"\bwe(?:'ve| have)? (?:ran into|run into|hit|encountered) an? (?:problem|error|issue)\b",
    r"\b(?:reload|refresh) (?:the|this) page\b",
    r"(?:etwas|da) ist .{0,12}schiefgelaufen|ein (?:unerwarteter )?fehler ist aufgetreten",
    r"une erreur (?:inattendue )?(?:s'est produite|est survenue)|se ha producido un error|algo (?:salió|ha salido) mal",
    r"ocorreu um erro|algo (?:deu errado|correu mal)|si è verificato un errore|qualcosa è andato storto",
    r"er is (?:iets misgegaan|een fout opgetreden)|(?:エラー|問題)が発生",
)

_BESIDE_LOBBY = frozenset({"denied", "removed_from_lobby"})  # may stand beside the lobby's old words
# A dialog that says one of these counts even over a page that still offers its button to join.
_OVER_ENTRY = frozenset({"locked", "full", "denied", "removed_from_lobby", "host_elsewhere"})


def refusals_by_meaning(
    site: str, *, unless: tuple[str, ...], waiting: tuple[str, ...], dialogs: tuple[str, ...]
) -> tuple[EvidenceRow, ...]:
    """Make the rows of one site. `unless` are its signs that the bot can go on, `waiting` those of its lobby: a denial
    may stand beside the lobby's old words, any other refusal does not. `dialogs` are the dialogs over its pages."""
    rows = Rows(site, phase=Phase.BEFORE, seen=SEEN)

    def row(name: str, meaning: Meaning, *, is_dialog: bool) -> EvidenceRow:
        vetoes = unless if name in _BESIDE_LOBBY else (*unless, *waiting)
        return rows.stem(
            f"means.{name}_told" if is_dialog else f"means.{name}",
            meaning.stems,
            SOURCE,
            state=meaning.state,
            reason=meaning.reason,
            cause=meaning.cause,
            within=dialogs if is_dialog else (),
            unless=() if is_dialog else vetoes,
            settle_s=SIGN_IN_SETTLE_S if meaning.state is PageState.SIGN_IN_NEEDED else SETTLE_S,
        )

    return tuple(
        row(name, meaning, is_dialog=True) for name, meaning in MEANINGS.items() if name in _OVER_ENTRY
    ) + tuple(row(name, meaning, is_dialog=False) for name, meaning in MEANINGS.items())


# Endings in dialogs over the call's controls, for languages other than English: the site's own rows know English only.
_ENDINGS_TOLD: Mapping[str, Meaning] = {
    "removed_told": replace(ENDINGS["removed"], stems=_REMOVED_ELSEWHERE),
    "ended_told": replace(ENDINGS["ended"], stems=_OVER_ELSEWHERE),
}


def endings_by_meaning(site: str, *, unless: tuple[str, ...], dialogs: tuple[str, ...]) -> tuple[EvidenceRow, ...]:
    """Make the rows that end a call in words that the site's own rows do not know. `unless` are its signs that the call
    goes on, or that it can be entered again; a dialog of `dialogs` may lie over them."""
    rows = Rows(site, phase=Phase.AFTER, seen=SEEN, settle_s=SETTLE_S)
    dialog_rows = tuple(
        rows.stem(
            f"means.{name}",
            meaning.stems,
            SOURCE,
            state=meaning.state,
            reason=meaning.reason,
            within=outside_panels(dialogs),
        )
        for name, meaning in _ENDINGS_TOLD.items()
    )
    plain_rows = tuple(
        rows.stem(f"means.{name}", meaning.stems, SOURCE, state=meaning.state, reason=meaning.reason, unless=unless)
        for name, meaning in ENDINGS.items()
    )
    fault_row = rows.stem("means.fault", _FAULT, SOURCE, state=PageState.TROUBLE, unless=unless)
    # Somebody moved the bot back into the lobby; or the host is gone for good.
    sources: tuple[tuple[str, str, StopReason | None], ...] = (
        ("means.waiting_again", "waiting", None),
        ("means.host_is_gone", "not_started", StopReason.MEETING_ENDED),
    )
    lobby_rows = (
        rows.stem(name, MEANINGS[meaning].stems, SOURCE, state=PageState.LOBBY, reason=reason, unless=unless)
        for name, meaning, reason in sources
    )
    return (*dialog_rows, *plain_rows, fault_row, *lobby_rows)
