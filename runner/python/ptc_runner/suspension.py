"""What one suspension may carry."""

from .wire_json import dumps

SUSPENSION_BYTES = 1_000_000  # of new calls; the engine behind the host refuses messages over 2 MiB
DESCRIPTION_BYTES = 400  # about what the host adds to each call: a digest, a line for people


def count_fitting(calls, frame_bytes):
    """So many of the calls, one at least; the rest goes with the next suspension, which follows at once."""
    count, size = 0, 0
    for call in calls:
        size += len(dumps(call)) + DESCRIPTION_BYTES
        if count and size > min(SUSPENSION_BYTES, frame_bytes // 2):
            break
        count += 1
    return count
