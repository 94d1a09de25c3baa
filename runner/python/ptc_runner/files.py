"""The files of a program: all that is under /tmp, the only place it can write to."""

import os
import stat

from .channel import EMBEDDED
from .errors import CantCopy

FOLDER = "/tmp"
# Of an embedded interpreter, whose whole file system is in memory.
SYSTEM = ("/dev", "/proc", "/tmp")


def read(room):
    """Folders and files, parents first, then in the order of their folder: (path, mode, time, content or None)."""
    found = []
    for place in _listed():
        status = os.lstat(place)
        if stat.S_ISDIR(status.st_mode):
            content = None
        elif not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise CantCopy(f"{place}, which is not an ordinary file")
        else:
            room -= status.st_size
            if room < 0:
                raise CantCopy(f"too many bytes in {FOLDER}")
            with open(place, "rb") as file:
                content = file.read()
        found.append((place, stat.S_IMODE(status.st_mode), status.st_mtime_ns, content))
    return found


def write(found):
    for place, _, _, content in _in_order(found):
        if content is None:
            os.mkdir(place)
        else:
            with open(place, "xb") as file:
                file.write(content)
    if list(_listed()) != [place for place, *_ in found]:
        raise CantCopy(f"files in {FOLDER} would be listed in another order")
    for place, mode, time, _ in reversed(found):  # a folder after what is in it
        os.chmod(place, mode)
        os.utime(place, ns=(time, time))


def _listed():
    for path, *_ in os.walk(FOLDER, onerror=_unreadable):
        for name in os.listdir(path):
            yield os.path.join(path, name)


def _unreadable(error):
    raise CantCopy(f"{error.filename}, which can't be read")


def _in_order(found):
    """The order in which to make them. A folder in memory lists first what was made first, or last, as its system likes."""
    probes = [os.path.join(FOLDER, name) for name in (".first", ".last")]
    for probe in probes:
        os.mkdir(probe)
    listed = list(_listed())
    for probe in probes:
        os.rmdir(probe)
    if listed.index(probes[0]) < listed.index(probes[1]):
        return found
    return sorted(reversed(found), key=lambda one: one[0].count(os.sep))  # parents are first all the same


def check_elsewhere(since):
    """An embedded program can write everywhere: files elsewhere that are newer than its beginning are not copied."""
    if not EMBEDDED:
        return
    for path, folders, files in os.walk("/"):
        if path == "/":
            folders[:] = [name for name in folders if f"/{name}" not in SYSTEM]
        for name in [*folders, *files]:
            place = os.path.join(path, name)
            if os.lstat(place).st_mtime > since:
                raise CantCopy(f"{place}, a changed file outside of {FOLDER}")
