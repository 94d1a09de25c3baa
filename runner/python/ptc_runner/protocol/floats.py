"""Marks the numbers of a JSON value that are floats: the host has one type of number, and writes 30.0 as 30.

A mask is 1 for a float, and a dict for a container: the masks of its members by key or index, or one for all items of a
list under "*". Host: src/common/json/floats.ts.
"""

from .json_codec import dumps

MAXIMUM_MASK_CHARACTERS = 4_000  # without a mask the other side gets integers


def float_mask(value):
    """Returns the mask of a value that was parsed from JSON; None without a float that looks like an integer."""
    try:
        mask, is_needed = _mask(value)
        return mask if is_needed and len(dumps(mask)) <= MAXIMUM_MASK_CHARACTERS else None
    except RecursionError:  # the host refuses arguments that are nested so deeply
        return None


def _mask(value):
    """Returns the mask, None for none, and whether a float in it looks like an integer."""
    if type(value) is float:
        return 1, value.is_integer()
    if type(value) is list:
        masks = [_mask(item) for item in value]
        is_needed = any(needed for _, needed in masks)
        first = masks[0][0] if masks else None
        if first is not None and all(mask == first for mask, _ in masks):
            return {"*": first}, is_needed
        members = {str(index): mask for index, (mask, _) in enumerate(masks) if mask is not None}
        return members or None, is_needed
    if type(value) is dict:
        masks = [(key, *_mask(member)) for key, member in value.items()]
        members = {key: mask for key, mask, _ in masks if mask is not None}
        return members or None, any(needed for _, _, needed in masks)
    return None, False


def with_floats(value, mask):
    """Returns a value in which the numbers of a mask are floats. Changes containers in place."""
    if mask == 1:
        return float(value) if type(value) is int else value
    if type(mask) is not dict:
        return value
    if type(value) is list:
        if "*" in mask:
            value[:] = [with_floats(item, mask["*"]) for item in value]
            return value
        for key, member in mask.items():
            index = int(key) if key.isdigit() else len(value)
            if index < len(value):
                value[index] = with_floats(value[index], member)
    elif type(value) is dict:
        for key, member in mask.items():
            if key in value:
                value[key] = with_floats(value[key], member)
    return value
