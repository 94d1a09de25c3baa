"""The files of a program: the content of /tmp, the only folder to which it can write."""

import os
import stat

from ..errors import UnsupportedState
from ..process import EMBEDDED

DIRECTORY = "/tmp"
SYSTEM_DIRECTORIES = ("/dev", "/proc", "/tmp")  # not searched in an embedded interpreter


def read_files(limit):
    """Returns (path, mode, time, content) of folders and files; the content of a folder is None.

    A parent comes before its children. Entries of one folder have the order in which the folder lists them.
    """
    entries = []
    for path in _paths():
        status = os.lstat(path)
        if stat.S_ISDIR(status.st_mode):
            content = None
        elif not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise UnsupportedState(f"{path}, which is not an ordinary file")
        else:
            limit -= status.st_size
            if limit < 0:
                raise UnsupportedState(f"too many bytes in {DIRECTORY}")
            with open(path, "rb") as file:
                content = file.read()
        entries.append((path, stat.S_IMODE(status.st_mode), status.st_mtime_ns, content))
    return entries


def write_files(entries):
    for path, _, _, content in _in_creation_order(entries):
        if content is None:
            os.mkdir(path)
        else:
            with open(path, "xb") as file:
                file.write(content)
    if list(_paths()) != [path for path, *_ in entries]:
        raise UnsupportedState(f"files in {DIRECTORY} would be listed in another order")
    for path, mode, time, _ in reversed(entries):  # a folder after its entries, which change its time
        os.chmod(path, mode)
        os.utime(path, ns=(time, time))


def _paths():
    for folder, *_ in os.walk(DIRECTORY, onerror=_unreadable):
        for name in os.listdir(folder):
            yield os.path.join(folder, name)


def _unreadable(error):
    raise UnsupportedState(f"{error.filename}, which can't be read")


def _in_creation_order(entries):
    """Returns the order of creation that gives this order of listing.

    A file system in memory lists the oldest entry of a folder first, or the newest: two new
    folders show which.
    """
    probes = [os.path.join(DIRECTORY, name) for name in (".first", ".last")]
    for probe in probes:
        os.mkdir(probe)
    listed = list(_paths())
    for probe in probes:
        os.rmdir(probe)
    if listed.index(probes[0]) < listed.index(probes[1]):
        return entries
    return sorted(reversed(entries), key=lambda entry: entry[0].count(os.sep))  # parents still come first


def check_outside(newer_than):
    """Raises UnsupportedState for changed files elsewhere: an embedded program can write to all folders."""
    if not EMBEDDED:
        return
    for folder, folders, files in os.walk("/"):
        if folder == "/":
            folders[:] = [name for name in folders if f"/{name}" not in SYSTEM_DIRECTORIES]
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            if os.lstat(path).st_mtime > newer_than:
                raise UnsupportedState(f"{path}, a changed file outside of {DIRECTORY}")
