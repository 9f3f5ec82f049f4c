"""Google Meet: labels of its controls if an account's own language overrides the pinned one.

German, French, Spanish, Portuguese, Italian, Dutch, Japanese. Beginnings of labels: sites add shortcuts and counts.
"""

from collections.abc import Sequence

from sederunt.platforms.rows import phrases

JOIN = phrases(
    "Teilnahme erbitten | Teilnahme anfragen | Teilnahme anfordern | Jetzt teilnehmen | Trotzdem teilnehmen | "
    "Demander à participer | Participer | Participer à la réunion | Participer quand même | "
    "Solicitar unirse | Solicitar unirme | Pedir unirse | Unirse ahora | Unirme ahora | Unirse de todas formas | "
    "Pedir para participar | Pedir para aderir | Participar agora | Aderir agora | "
    "Chiedi di partecipare | Partecipa | Partecipa ora | Vragen om deel te nemen | Deelname vragen | Nu deelnemen | "
    "参加をリクエスト | 今すぐ参加 | 参加"
)
NAME = phrases(
    "Dein Name | Ihr Name | Mein Name | Votre nom | Tu nombre | Su nombre | Seu nome | O seu nome | Il tuo nome | "
    "Je naam | Uw naam | 名前 | お名前"
)
CAPTIONS = phrases(
    "Untertitel aktivieren | Untertitel deaktivieren | Untertitel einschalten | Untertitel ausschalten | "
    "Activer les sous-titres | Désactiver les sous-titres | Activar subtítulos | Activar los subtítulos | "
    "Desactivar subtítulos | Desactivar los subtítulos | Ativar legendas | Desativar legendas | Ativar as legendas | "
    "Attiva sottotitoli | Disattiva sottotitoli | Attiva i sottotitoli | Ondertiteling aanzetten | "
    "Ondertiteling uitzetten | Ondertiteling inschakelen | Ondertiteling uitschakelen | 字幕をオン | 字幕をオフ"
)
CHAT = phrases(
    "Mit allen chatten | Chat mit allen | Chatter avec tout le monde | Discuter avec tout le monde | "
    "Chatear con todos | Chat con todos | Chat com todos | Conversar com todos | Chatta con tutti | "
    "Chat con tutti | Met iedereen chatten | Chatten met iedereen | 全員とチャット"
)
PEOPLE = phrases(
    "Personen | Alle anzeigen | Teilnehmer | Afficher tout le monde | Participants | Contacts | Mostrar a todos | "
    "Personas | Mostrar todos | Pessoas | Mostra tutti | Persone | Iedereen weergeven | Mensen | "
    "全員を表示 | ユーザー | 参加者"
)
LEAVE = phrases(
    "Anruf verlassen | Videoanruf verlassen | Quitter l'appel | Quitter l’appel | Salir de la llamada | "
    "Abandonar la llamada | Sair da chamada | Abbandona chiamata | Abbandona la chiamata | Esci dalla chiamata | "
    "Gesprek verlaten | 通話から退出"
)
MICROPHONE_OFF = phrases(
    "Mikrofon deaktivieren | Mikrofon ausschalten | Désactiver le micro | Couper le micro | Desactivar micrófono | "
    "Desactivar el micrófono | Desativar microfone | Desativar o microfone | Disattiva microfono | "
    "Disattiva il microfono | Microfoon uitzetten | Microfoon uitschakelen | マイクをオフ"
)
CAMERA_OFF = phrases(
    "Kamera deaktivieren | Kamera ausschalten | Désactiver la caméra | Desactivar cámara | Desactivar la cámara | "
    "Desativar câmera | Desativar câmara | Desativar a câmera | Disattiva videocamera | Disattiva fotocamera | "
    "Disattiva la videocamera | Camera uitzetten | Camera uitschakelen | カメラをオフ"
)
COMPOSER = phrases(
    "Nachricht senden | Envoyer un message | Enviar un mensaje | Enviar mensaje | Enviar uma mensagem | "
    "Enviar mensagem | Invia un messaggio | Invia messaggio | Een bericht sturen | Bericht sturen | メッセージを送信"
)


def beginning(labels: Sequence[str], element: str = "") -> str:
    """Write the selector of elements whose label begins with one of these."""
    return ",".join(f'{element}[aria-label^="{label}" i]' for label in labels)
