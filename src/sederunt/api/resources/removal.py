"""Remove the files of deleted resources at once, so that their signed addresses no longer work after the answer."""

from sederunt import log
from sederunt.storage.objects import Objects

logger = log.get(component="api")


async def remove_files(objects: Objects, prefix: str) -> None:
    """Remove all files below a prefix; if the storage is away, housekeeping does it later by the deletion's receipt."""
    try:
        await objects.delete_prefix(prefix)
    except Exception as error:  # any error of the storage client
        logger.warning("files not removed yet", action="removal_put_off", prefix=prefix, error=str(error))
