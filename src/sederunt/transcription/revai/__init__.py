"""Rev.ai: machine transcription, after meetings."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.revai.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
