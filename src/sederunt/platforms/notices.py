"""Read notices that lie over a page: the subjects of those that ask for consent, and the answer to each kind.

A notice is recognised by its subject and answered by its button, whichever product it names, in English and in the
languages of accounts: German, French, Spanish, Portuguese, Italian, Dutch, Japanese.
"""

from collections.abc import Iterable

from sederunt.platforms.rows import phrases

_NO_PANEL = ':not(:has(textarea,[contenteditable="true"],[role="list"],[role="log"],[role="tree"]))'


def outside_panels(containers: Iterable[str]) -> tuple[str, ...]:
    """Return the selectors of containers that are not panels. Panels may be dialogs as well, but the messages and names
    in them are no notices."""
    return tuple(container + _NO_PANEL for container in containers)


# Subjects of a notice that everybody has to accept; parts of words, in lower case.
RECORDED = phrases(
    "recorded | recording | transcribed | transcription | livestream | live stream | being archived | taking notes | "
    "take notes | ai companion | consent | aufgezeichnet | aufzeichnung | transkri | enregistr | consentement | "
    "grabando | grabad | grabación | grabar | consentimiento | gravad | gravação | gravar | consentimento | "
    "registrat | registrazion | consenso | opgenomen | opname | toestemming | 録画 | 録音 | 文字起こし | 同意"
)
SHARED_WITH = phrases(
    "will be shared with | is being shared with | are being shared with | is shared with | are shared with"
)
_SHARED_ELSEWHERE = phrases(
    "geteilt | freigegeben | partagé | compartirá | compartid | compartilhad | partilhad | condivis | gedeeld | と共有"
)
ASKS_CONSENT = RECORDED + SHARED_WITH + _SHARED_ELSEWHERE
# Those of these words that state a fact or ask for agreement. The others name a recording; a dialog with them may also
# ask whether to delete or share it.
STATED = SHARED_WITH + phrases(
    "being recorded | be recorded | recorded by | is recording | being transcribed | be transcribed | livestreamed | "
    "being archived | taking notes | take notes | ai companion | consent | aufgezeichnet | transkribiert | zustimm | "
    "einverstanden | enregistré | transcrit | consentement | grabando | grabad | consentimiento | gravad | "
    "consentimento | registrat | consenso | opgenomen | toestemming | 録画されて | 録音されて | 文字起こしされて | 同意"
)

# Questions of dialogs that begin or end something for everybody: not notices, though they mention recording as well.
OFFERS = phrases(
    "start recording? | start recording this | start recording the | want to start recording | want to record | "
    "like to record | record this meeting? | record this call? | record the meeting? | stop recording? | "
    "stop the recording? | start transcri | stop transcription? | start live stream | end meeting for all | "
    "end the call for everyone | aufzeichnung starten | aufnahme starten | aufzeichnung beenden | "
    "möchten sie aufzeichnen | möchtest du aufzeichnen | besprechung aufzeichnen? | démarrer l'enregistrement | "
    "commencer l'enregistrement | arrêter l'enregistrement | voulez-vous enregistrer | iniciar grabación | "
    "iniciar la grabación | empezar a grabar | comenzar a grabar | quieres grabar | desea grabar | "
    "detener la grabación | iniciar gravação | iniciar a gravação | começar a gravar | quer gravar | deseja gravar | "
    "avviare la registrazione | avvia registrazione | vuoi registrare | opname starten | opname stoppen | "
    "wil je opnemen | wilt u opnemen | 録画を開始しますか | 録画しますか | 録画を停止しますか"
)
OFFERS_DECLINED = phrases(
    "Cancel | No | No thanks | Not now | Close | Abbrechen | Nein | Annuler | Non | Cancelar | Não | Annulla | "
    "Annuleren | Nee | キャンセル | いいえ"
)

# A dialog with this button asks for an action; a notice can only be acknowledged or left.
CANCELS = phrases("Cancel | Abbrechen | Annuler | Cancelar | Annulla | Annuleren | キャンセル")

# The buttons that accept, and those beside them that say no or lead elsewhere.
CONSENT_GIVEN = phrases(
    "Got it* | OK | Okay | Continue* | Accept* | Agree* | I agree* | I accept* | I consent* | Yes, I consent* | "
    "I understand* | Understood | Acknowledge* | Proceed* | Stay* | "
    "Weiter | Fortfahren | Akzeptieren | Annehmen | Zustimmen | Ich stimme zu | Einverstanden | Verstanden | "
    "Continuer | Accepter | J'accepte | Compris | D'accord | OK, compris | "
    "Continuar | Aceptar | Acepto | Estoy de acuerdo | Entendido | De acuerdo | "
    "Aceitar | Aceito | Concordo | Entendi | Continua | Accetta | Accetto | Ho capito | Va bene | "
    "Doorgaan | Accepteren | Akkoord | Begrepen | Ik ga akkoord | 同意する | 同意します | "
    "続行 | 続ける | 了解 | わかりました"
)
CONSENT_REFUSED = phrases(
    "Leave* | Cancel* | Decline* | Disagree* | Don't* | Learn* | Sign in* | Continue without* | Stay muted"
)

# Buttons that close notices nobody needs.
DISMISSALS = phrases("Got it | Dismiss | No thanks | Not now")
# … in a dialog over the call, including the host's requests to speak, or to go into another room.
DISMISSALS_IN_CALL = (
    *DISMISSALS,
    *phrases(
        "Stay muted | Keep muted | Stay muted and off | Later | Maybe later | Skip | Remind me later | No, thanks | "
        "Nicht jetzt | Später | Vielleicht später | Überspringen | Nein danke | Stummgeschaltet bleiben | "
        "Pas maintenant | Plus tard | Passer | Non merci | Rester en sourdine | "
        "Ahora no | Más tarde | Omitir | No, gracias | Permanecer silenciado | "
        "Agora não | Mais tarde | Pular | Não, obrigado | Non ora | Più tardi | Salta | No, grazie | "
        "Niet nu | Overslaan | Nee, bedankt | 後で | 今はしない | スキップ | ミュートのまま"
    ),
)
# "Are you still there?"
STAYS = phrases(
    "Stay in the call | Stay in call | Stay in the meeting | Stay in meeting | Stay | I'm still here | "
    "I am still here | I'm here | Yes, I'm here | Still here | Im Anruf bleiben | Anruf fortsetzen | Ich bin noch da | "
    "Rester dans l'appel | Je suis toujours là | Permanecer en la llamada | Seguir en la llamada | Sigo aquí | "
    "Permanecer na chamada | Continuar na chamada | Ainda estou aqui | Resta nella chiamata | Sono ancora qui | "
    "In gesprek blijven | Ik ben er nog | 通話を続ける | 参加を続ける"
)
