"""Speechmatics: transcription after and during meetings."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.speechmatics.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
