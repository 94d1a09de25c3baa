"""Replaces an error message of the embedded Python: it has no time zone data, and advises to load a package."""

import zoneinfo._common as common

_load = common.load_tzdata


def install():
    common.load_tzdata = load_tzdata


def load_tzdata(key):
    try:
        return _load(key)
    except common.ZoneInfoNotFoundError:
        advice = "the embedded sandbox has no time zone data, use datetime.timezone with a fixed offset"
        raise common.ZoneInfoNotFoundError(f"No time zone found with key {key}: {advice}") from None
