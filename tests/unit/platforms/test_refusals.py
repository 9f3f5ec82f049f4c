"""Refusals by what they mean, whatever the words: the sentence below the heading decides."""

import re

import pytest

from sederunt.model.bot import Service
from sederunt.model.status import StopReason
from sederunt.platforms.evidence import PageSnapshot, normalised
from sederunt.platforms.page_state import PageState
from sederunt.platforms.refusals import ENDINGS, MEANINGS
from sederunt.platforms.registry import platform_of, services
from sederunt.platforms.site import Site

SENTENCES = {
    "locked": (
        "The meeting is locked.",
        "This call has been locked by the host",
        "The host has locked this meeting",
        "Diese Besprechung wurde gesperrt",
        "Cette réunion est verrouillée",
        "La reunión está bloqueada",
        "La riunione è bloccata",
        "Der Host hat dieses Meeting gesperrt.",
        "L'hôte a verrouillé cette réunion.",
        "El anfitrión ha bloqueado esta reunión.",
        "ホストがこのミーティングをロックしました。",
        "この会議はロックされています",
    ),
    "full": (
        "This meeting is full",
        "The call is already full.",
        "The meeting has reached its participant limit",
        "Participant limit reached",
        "There are too many people in this meeting",
        "Die Besprechung ist voll",
        "La réunion est complète",
        "この通話は満員です",
    ),
    "denied": (
        "Anna denied your request to join",
        "Odmówiono dołączenia",
        "Din begäran avslogs",
        "您的请求被拒绝",
        "참여 요청이 거부되었습니다",
        "Вам отказано в доступе",
        "The host did not let you in to this meeting.",
        "Someone has declined your request to join",
        "Your request to join this call was not accepted",
        "You were refused entry",
        "Deine Anfrage wurde abgelehnt",
        "Ein Teilnehmer hat deine Anfrage zur Teilnahme abgelehnt",
        "Un participant a refusé votre demande de participation à l'appel",
        "Désolé, l'accès à la réunion vous a été refusé",
        "Alguien de la llamada ha denegado tu solicitud para unirte",
        "Lo sentimos, se le denegó el acceso a la reunión",
        "La tua richiesta di partecipazione è stata rifiutata",
        "O seu pedido para participar foi recusado",
        "Je verzoek om deel te nemen is geweigerd",
        "参加リクエストが拒否されました",
    ),
    "removed_from_lobby": (
        "Sie wurden vom Host aus diesem Meeting entfernt",
        "El anfitrión lo ha eliminado de esta reunión",
        "You cannot rejoin this call",
    ),
    "not_allowed": (
        "You aren't allowed to join this call",
        "You are not permitted to enter this meeting",
        "You don't have permission to join this meeting",
        "Du bist nicht berechtigt, teilzunehmen",
        "Vous n’êtes pas autorisé à participer",
    ),
    "invited_only": (
        "You are not on the guest list",
        "Only people who were invited can join",
        "This meeting is invite-only",
        "Nur eingeladene Personen können teilnehmen",
    ),
    "organisation": (
        "Only people in this organization can join",
        "People outside of your organisation can't join",
        "Your organization's policy doesn't matter: admin settings do not allow guests",
        "Nur Personen in deiner Organisation",
    ),
    "signed_in": (
        "Sign in to your account to join",
        "You need an account to join",
        "Guests aren't allowed in this meeting",
        "Only signed-in users can join",
        "You must be signed in to join this meeting",
        "You need to sign in before you can join",
        "Sign in with your work account to join",
        "Anonymous users can't join",
        "Melden Sie sich an, um teilzunehmen",
        "Inicie sesión para unirse a esta reunión",
        "この会議に参加するにはサインインしてください",
    ),
    "over": (
        "This meeting has ended",
        "The call is over",
        "Die Besprechung wurde beendet",
        "Dieses Meeting wurde vom Host beendet",
        "Cette réunion a été terminée par l'hôte",
        "会議は終了しました",
    ),
    "unknown": (
        "This meeting doesn't exist",
        "We can't find that meeting",
        "Invalid meeting link",
        "That code isn't valid",
        "No meeting with this ID",
        "The link you followed is broken or expired",
        "Diese Besprechung existiert nicht",
        "Cette réunion n'existe pas",
        "Esta reunión no existe",
        "Überprüfe deinen Besprechungscode",
        "Dieser Meeting-Link ist ungültig (3.001)",
        "Vérifiez le code de la réunion",
        "Ce lien de réunion n'est pas valide (3 001)",
        "Comprueba el código de la reunión",
        "Este enlace de la reunión no es válido (3.001)",
        "会議コードを確認してください",
        "このミーティングリンクは無効です",
    ),
    "unanswered": (
        "Nobody let you in",
        "Your request timed out",
        "The host didn't respond to your request",
        "Request to join expired",
        "You waited too long",
        "Deine Anfrage ist abgelaufen",
        "Votre demande a expiré",
        "Tu solicitud ha caducado",
        "Nobody has answered your request",
        "Niemand hat auf deine Beitrittsanfrage reagiert",
        "Personne n'a répondu à votre demande",
        "Nadie ha respondido a tu solicitud",
        "参加リクエストへの応答がありませんでした",
        "通話への参加リクエストに誰も応答しませんでした",
        "Nikt nie odpowiedział na Twoją prośbę",
        "Ingen svarade på din begäran",
        "没有人回应您的加入请求",
    ),
    "host_elsewhere": (
        "The host is hosting another meeting",
        "Der Host hat ein anderes Meeting am Laufen",
        "L'hôte a une autre réunion en cours",
        "El anfitrión tiene otra reunión en curso",
        "ホストは別のミーティングを進行中です",
    ),
    "waiting": (
        "Du nimmst am Videoanruf teil, sobald dich jemand hereinlässt",
        "Bitte warten Sie, bis der Host dieses Meeting startet.",
        "Quelqu'un vous laissera entrer sous peu",
        "Espere, el anfitrión de la reunión le permitirá entrar pronto.",
        "承認されると、通話に参加できます",
    ),
    "not_started": ("The meeting hasn't started yet", "Die Besprechung hat noch nicht begonnen"),
}
ENDS = {
    "removed": (
        "Anna removed you from the meeting",
        "Removed from meeting",
        "Removed from the call.",
        "You can’t rejoin this meeting",
        "You are not able to join this call again",
        "Aus der Besprechung entfernt",
        "Du kannst an dieser Besprechung nicht wieder teilnehmen",
        "Exclu de la réunion",
        "Vous ne pouvez plus rejoindre cette réunion",
        "Expulsado de la reunión",
        "No puedes volver a unirte a esta reunión",
        "Rimosso dalla riunione",
        "Não pode voltar a participar nesta reunião",
        "この会議に再参加できません",
        "Usunięto Cię ze spotkania",
        "Du har tagits bort från mötet",
        "您已被移出会议",
        "회의에서 내보내졌습니다",
        "Вас удалили из встречи",
        "Someone removed you from the meeting",
        "You were kicked by the organizer",
        "You've been ejected",
        "The host has removed you",
        "Du wurdest aus der Besprechung entfernt",
        "Vous avez été retiré de la réunion",
        "Der Host hat Sie aus dem Meeting entfernt",
        "Le quitaron de esta reunión",
        "El anfitrión le ha eliminado de esta reunión",
        "Sei stato rimosso da questa riunione dall'ospite",
        "Foi removido desta reunião",
        "Je bent door de host uit deze meeting verwijderd",
        "ホストがあなたをこのミーティングから削除しました",
    ),
    "not_let_back": (
        "Someone in the call denied your request to join",
        "Sorry, but you were denied access to the meeting.",
        "Der Host hat Ihre Anfrage abgelehnt",
    ),
    "ended": (
        "Your 60-minute call has ended",
        "This call reached its 60 minute limit",
        "Meeting time limit reached",
        "Everyone has left the call",
        "Anna ended the meeting for everyone",
        "You no longer have access to this meeting",
        "See you next time!",
        "Thanks for coming",
        "Das Zeitlimit für diesen Anruf ist erreicht",
        "Se ha alcanzado el límite de tiempo",
        "Chiamata terminata",
        "Spotkanie zostało zakończone",
        "Mötet har avslutats",
        "会议已结束",
        "회의가 종료되었습니다",
        "Встреча завершена",
        "The organizer closed this meeting",
        "This call is over",
        "You have left the session",
        "Die Besprechung wurde beendet",
        "La reunión ha finalizado",
        "Der Host hat den Anruf für alle beendet",
        "L'organisateur a mis fin à la réunion pour tout le monde",
        "El organizador ha finalizado la llamada para todos",
        "主催者が会議を終了しました",
        "El anfitrión finalizó la reunión para todos",
        "Cette réunion a été interrompue par l'hôte",
        "Questa riunione è stata terminata dall'ospite",
        "La riunione è terminata",
        "A reunião terminou",
        "Esta reunião foi encerrada pelo anfitrião",
        "O organizador encerrou a chamada para todos",
        "De host heeft het gesprek voor iedereen beëindigd",
        "Deze meeting is beëindigd door de host",
        "How was the call quality?",
        "Rate your meeting",
        "How was it?",
        "How did your call go?",
        "Wie war Ihr Anruf?",
        "¿Cómo fue la llamada?",
    ),
}
NO_ENDS = (
    "Ada removed Bob from the call",
    "There is a time limit of 60 minutes",
    "Bob ended the poll for everyone",
    "Your microphone was removed",
    "Ada Lovelace has left the meeting",
    "Ada removed Bob from the meeting",
    "Ready to join?",
    "The meeting will end in 10 minutes",
    "You are now the host of this meeting",
    "Das Meeting endet in 10 Minuten",
    "La réunion se terminera dans 10 minutes",
    "Die Untertitel wurden beendet",
    "La riunione è registrata",
    "Esta reunião foi gravada",
    "Ana le quitó el micrófono",
)
# What stands on pages that refuse nothing, or on refusals that say nothing.
NO_REFUSALS = (
    "The host hasn't responded yet",
    "Copy the meeting link",
    "This link is valid for a day",
    "Guests can see this message",
    "You can't join this video call",
    "Returning to home screen",
    "Ready to join?",
    "Full moon planning",
    "Locked rooms, a seminar",
    "The weekend is over",
    "Sign in",
    "Ada Lovelace is in this call",
    "The meeting is full of surprises",
    "Learn more about who can join a meeting",
    "Invited guests",
    "Your organization",
    "Bereit zur Teilnahme?",
    "Prêt à participer ?",
    "Copier le lien de la réunion",
    "Código de la reunión: abc-defg-hij",
    "参加する準備はできましたか？",
)


def meanings_of(sentence: str) -> set[str]:
    """Which meanings a sentence has."""
    line = normalised(sentence)
    return {name for name, meaning in MEANINGS.items() if any(re.search(stem, line) for stem in meaning.stems)}


@pytest.mark.parametrize(("name", "sentence"), [(n, s) for n, told in SENTENCES.items() for s in told])
def test_a_sentence_means(name: str, sentence: str) -> None:
    assert name in meanings_of(sentence)


@pytest.mark.parametrize(("name", "sentence"), [(n, s) for n, told in ENDS.items() for s in told])
def test_a_call_ends_by_what_a_sentence_means(name: str, sentence: str) -> None:
    assert any(re.search(stem, normalised(sentence)) for stem in ENDINGS[name].stems)


@pytest.mark.parametrize("sentence", NO_ENDS)
def test_other_words_end_no_call(sentence: str) -> None:
    assert not any(re.search(stem, normalised(sentence)) for meaning in ENDINGS.values() for stem in meaning.stems)


@pytest.mark.parametrize("service", services())
def test_a_site_has_the_rows_by_which_refusals_endings_and_notices_are_judged(service: Service) -> None:
    site = platform_of(service)
    assert isinstance(site, Site)
    needed = ("name_field", "controls_named", "notice_asks", "notice_accepts", "notice_to_answer")
    missing = {f"{service}.{name}" for name in (*needed, "means.locked", "means.removed")} - {r.id for r in site.rows}
    assert missing == set(), (
        "its evidence includes refusals_by_meaning and endings_by_meaning (platforms/refusals.py), named_controls and "
        "call_notices (platforms/shared.py), and a row name_field: platforms/teams/evidence.py has them all"
    )


@pytest.mark.parametrize("service", services())
def test_an_end_by_meaning_counts_only_where_the_controls_are_gone(service: Service) -> None:
    platform = platform_of(service)
    told = {f"{service}.means.removed": ("x",)}
    reading = platform.judge(PageSnapshot(matches=told), joined=True)
    assert (reading.state, reading.reason) == (PageState.REMOVED, StopReason.KICKED)
    there = {**told, f"{service}.controls_named": ("x", "y", "z")}
    assert platform.judge(PageSnapshot(matches=there), joined=True).state is not PageState.REMOVED


LOBBIES = {"gmeet": "lobby_in_call", "teams": "lobby_again", "zoom": "waiting_for_host_again"}


@pytest.mark.parametrize("service", sorted(LOBBIES))
def test_a_bot_in_the_lobby_again_is_in_no_call_and_a_prejoin_is_no_lobby(service: str) -> None:
    platform = platform_of(Service(service))
    for row in (LOBBIES[service], "means.waiting_again"):
        told = {f"{service}.{row}": ("x",)}
        assert platform.judge(PageSnapshot(matches=told), joined=True).state is PageState.LOBBY
        for sign in ("controls_named", "name_field"):
            there = {**told, f"{service}.{sign}": ("x", "y", "z")}
            assert platform.judge(PageSnapshot(matches=there), joined=True).state is not PageState.LOBBY


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("waiting_again", None),
        ("on_hold", None),
        ("means.waiting_again", None),
        ("waiting_for_host_again", StopReason.MEETING_ENDED),
        ("means.host_is_gone", StopReason.MEETING_ENDED),
    ],
)
def test_who_is_put_back_is_thrown_out_and_a_host_who_is_gone_ends_the_meeting(
    row: str, reason: StopReason | None
) -> None:
    reading = platform_of(Service("zoom")).judge(PageSnapshot(matches={f"zoom.{row}": ("x",)}), joined=True)
    assert (reading.state, reading.reason) == (PageState.LOBBY, reason)


FAULTS = (
    "Something went wrong",
    "An unexpected error has occurred. Please try again.",
    "Oops! We ran into a problem.",
    "Reload the page to continue",
    "Etwas ist schiefgelaufen",
    "Une erreur s'est produite",
    "問題が発生しました",
)


@pytest.mark.parametrize("service", services())
def test_a_fault_that_a_page_speaks_of_is_no_end_of_the_call(service: Service) -> None:
    """On an address that names no meeting it was taken for the site's leading out of the call."""
    platform = platform_of(service)
    assert isinstance(platform, Site)
    (fault,) = [row for row in platform.rows if row.id == f"{service}.means.fault"]
    for sentence in FAULTS:
        assert any(re.search(stem, normalised(sentence)) for stem in fault.patterns), sentence
    told = {fault.id: ("x",)}
    assert platform.judge(PageSnapshot(matches=told), joined=True).state is PageState.TROUBLE
    there = {**told, f"{service}.controls_named": ("x", "y", "z")}
    assert platform.judge(PageSnapshot(matches=there), joined=True).state is not PageState.TROUBLE


@pytest.mark.parametrize("service", services())
def test_a_dialog_ends_a_call_in_any_language_though_the_controls_stand_below_it(service: Service) -> None:
    platform = platform_of(service)
    below = {f"{service}.controls_named": ("x", "y", "z"), f"{service}.means.ended": ("x",)}
    assert platform.judge(PageSnapshot(matches=below), joined=True).state is not PageState.OVER
    for name, reason in (("ended", StopReason.MEETING_ENDED), ("removed", StopReason.KICKED)):
        told = PageSnapshot(matches={**below, f"{service}.means.{name}_told": ("x",)})
        assert platform.judge(told, joined=True).reason is reason


@pytest.mark.parametrize(("service", "lobby"), [("gmeet", "lobby"), ("teams", "lobby"), ("zoom", "waiting_room")])
def test_a_denial_counts_beside_the_lobbys_old_words_and_nothing_else_does(service: str, lobby: str) -> None:
    platform = platform_of(Service(service))
    for name, counts in (("denied", True), ("over", False)):
        shown = {f"{service}.means.{name}": ("x",), f"{service}.{lobby}": ("x",)}
        reading = platform.judge(PageSnapshot(matches=shown), joined=False)
        assert (reading.state is PageState.REFUSED) is counts


@pytest.mark.parametrize("sentence", NO_REFUSALS)
def test_other_words_refuse_nothing(sentence: str) -> None:
    assert not meanings_of(sentence)


@pytest.mark.parametrize("service", services())
def test_meanings_count_only_where_no_way_on_is_left(service: Service) -> None:
    platform = platform_of(service)
    told = {f"{service}.means.locked": ("x",)}
    reading = platform.judge(PageSnapshot(matches=told), joined=False)
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED)
    way_on = platform.judge(PageSnapshot(matches={**told, f"{service}.name_field": ("x",)}), joined=False)
    assert way_on.state is not PageState.REFUSED
    assert platform.judge(PageSnapshot(matches=told), joined=True).state is PageState.LOADING


@pytest.mark.parametrize("service", services())
def test_a_dialog_refuses_though_the_button_to_join_stands_below_it(service: Service) -> None:
    platform = platform_of(service)
    below = {f"{service}.name_field": ("x",), f"{service}.means.locked": ("x",)}
    assert platform.judge(PageSnapshot(matches=below), joined=False).state is not PageState.REFUSED
    over = platform.judge(PageSnapshot(matches={**below, f"{service}.means.locked_told": ("x",)}), joined=False)
    assert (over.state, over.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED)


MEET = platform_of(Service("gmeet"))
GENERIC = {"gmeet.blocked": ("x",), "gmeet.blocked_suspected": ("x",)}


def test_a_refusal_that_does_not_say_why_is_no_challenge_by_itself() -> None:
    reading = MEET.judge(PageSnapshot(matches=GENERIC), joined=False)
    assert (reading.state, reading.row) == (PageState.BLOCKED, "gmeet.blocked")


def test_with_the_sites_own_suspicion_beside_it_it_is_one() -> None:
    reading = MEET.judge(PageSnapshot(matches=GENERIC), joined=False, noted=("suspected_bot",))
    assert (reading.state, reading.row) == (PageState.CHALLENGED, "gmeet.blocked_suspected")


def test_a_hard_block_counts_down_and_is_one_before_its_page_is_left() -> None:
    """Meet leaves its page a minute later: to wait for that would tell the block as somebody's refusal."""
    shown = {**GENERIC, "gmeet.blocked_for_good": ("x",), "gmeet.sends_away": ("Returning to home screen",)}
    reading = MEET.judge(PageSnapshot(matches=shown), joined=False)
    assert (reading.state, reading.row) == (PageState.CHALLENGED, "gmeet.blocked_for_good")
    locked = MEET.judge(PageSnapshot(matches={**shown, "gmeet.full": ("x",)}), joined=False)
    assert (locked.state, locked.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED), "it says why"


def test_the_sentence_below_the_heading_decides() -> None:
    reading = MEET.judge(PageSnapshot(matches={**GENERIC, "gmeet.means.full": ("x",)}), joined=False)
    assert (reading.state, reading.reason) == (PageState.REFUSED, StopReason.REQUEST_DENIED)


def test_meets_button_to_ask_again_denies_nothing_where_nobody_answered() -> None:
    """Its words come in the language of an account, its button perhaps not; it was told as a denial."""
    platform = platform_of(Service("gmeet"))
    button = {"gmeet.denied_button": ("ask to join again",)}
    assert platform.judge(PageSnapshot(matches=button), joined=False).reason is StopReason.REQUEST_DENIED
    for row in ("gmeet.no_answer", "gmeet.means.unanswered"):
        reading = platform.judge(PageSnapshot(matches={**button, row: ("x",)}), joined=False)
        assert reading.reason is StopReason.WAITING_ROOM_TIMEOUT


@pytest.mark.parametrize("service", services())
def test_a_dialog_that_can_only_be_closed_is_closed(service: Service) -> None:
    """A poll over Teams stood until the end, and kept the chat covered."""
    site = platform_of(service)
    assert isinstance(site, Site)
    (row,) = (row for row in site.rows if row.id == f"{service}.notice_to_answer")
    assert "close" in {label.lower() for label in row.patterns}


OWN_WORDS = {"gmeet": "gmeet.full", "teams": "teams.full", "zoom": "zoom.full"}


@pytest.mark.parametrize("service", sorted(OWN_WORDS))
def test_a_full_meeting_is_one_refusal_with_a_cause_of_its_own_at_every_site(service: str) -> None:
    """Zoom's was told as a failure of ours, those of the others as somebody's refusal."""
    for row in (OWN_WORDS[service], f"{service}.means.full", f"{service}.means.full_told"):
        reading = platform_of(Service(service)).judge(PageSnapshot(matches={row: ("x",)}), joined=False)
        assert (reading.row, reading.state) == (row, PageState.REFUSED)
        assert (reading.reason, reading.cause) == (StopReason.REQUEST_DENIED, "meeting_full")


@pytest.mark.parametrize("service", sorted(OWN_WORDS))
def test_a_locked_meeting_is_not_a_full_one(service: str) -> None:
    reading = platform_of(Service(service)).judge(PageSnapshot(matches={f"{service}.locked": ("x",)}), joined=False)
    assert (reading.state, reading.reason, reading.cause) == (PageState.REFUSED, StopReason.REQUEST_DENIED, "")


def test_a_time_limit_is_the_meetings_end_and_no_lack_of_room() -> None:
    for sentence in ("The time limit has been reached", "This call has reached its time limit"):
        assert meanings_of(sentence) == {"over"}
