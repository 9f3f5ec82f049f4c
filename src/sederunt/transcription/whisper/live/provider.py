"""Whisper as a live provider. Light: its dependencies are imported when the first session opens."""

from sederunt.settings import Settings
from sederunt.transcription.rows import ModelRow
from sederunt.transcription.sessions import Order, Session, Tell, Terms

# The engine is never full and never lost. Silence beyond the end of an utterance is useless to it, and an idle place
# in it costs nothing and remembers the language.
TERMS = Terms(silence_sent_s=1.5, idle_s=float("inf"), resend_s=0.0)


class LiveWhisper:
    """The live half of the built-in provider."""

    name = "whisper"

    def terms(self, _model: ModelRow) -> Terms:
        return TERMS

    def fault(self, settings: Settings, _model: ModelRow) -> str | None:
        """Return the remedies if no model is on this machine."""
        from sederunt.transcription.whisper.live import selector

        return selector.fault(settings)

    def prepare(self, settings: Settings, lang: str | None) -> None:
        """Load the model for the first words."""
        from sederunt.transcription.whisper.live import selector

        selector.load_first(settings, lang)

    def open(self, settings: Settings, order: Order, tell: Tell) -> Session:
        from sederunt.transcription.whisper.live.session import open_session

        return open_session(settings, order, tell)
