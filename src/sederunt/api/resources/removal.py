"""Files of what a caller deleted go at once, so that their signed addresses lead nowhere when the answer is given."""

from sederunt import log
from sederunt.storage.objects import Objects

logger = log.get(component="api")


async def remove_files(objects: Objects, prefix: str) -> None:
    """Remove what lies below; where the storage is away, housekeeping does it by the receipt."""
    try:
        await objects.delete_prefix(prefix)
    except Exception as error:  # whatever the store's client raises
        logger.warning("files not removed yet", action="removal_put_off", prefix=prefix, error=str(error))
