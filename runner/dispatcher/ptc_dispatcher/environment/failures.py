"""Failures of environment tools. The text of one begins with its code."""

import errno

# Codes:
#   invalid_arguments  invalid_path  invalid_pattern  path_outside  path_changed  read_only  sensitive_file
#   not_found  not_permitted  not_a_file  not_a_folder  binary_file  not_text  too_large  disk_full  io_error
#   no_match  several_matches  dangerous_command


PATH_CHANGED = "a link is on the way, which was not there before or leads to itself"


class EnvironmentFailure(Exception):
    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


# ELOOP, and EINVAL of readlink: something on the way has become a link, or no longer is one.
_CODES = {
    errno.ENOENT: ("not_found", "there is no such file or folder"),
    errno.ENOTDIR: ("not_found", "a part of the path is not a folder"),
    errno.ELOOP: ("path_changed", PATH_CHANGED),
    errno.EINVAL: ("path_changed", PATH_CHANGED),
    errno.EACCES: ("not_permitted", "the user of the sandbox has no permission"),
    errno.EPERM: ("not_permitted", "the user of the sandbox has no permission"),
    errno.EROFS: ("read_only", "the file system is read-only"),
    errno.ENAMETOOLONG: ("invalid_path", "a name has more than 255 bytes, or the path more than 4,095"),
    errno.EISDIR: ("not_a_file", "it is a folder"),
    errno.ENXIO: ("not_a_file", "it is a FIFO, a socket or a device"),
    errno.ENOSPC: ("disk_full", "no space left (ENOSPC): remove files that are no longer needed"),
    errno.EDQUOT: ("disk_full", "no space left (EDQUOT): remove files that are no longer needed"),
    errno.EFBIG: ("disk_full", "the file would be larger than the sandbox allows (EFBIG)"),
}


def failure_of(error, path):
    """The failure for an OSError."""
    code, text = _CODES.get(error.errno, ("io_error", f"{error.strerror} ({errno.errorcode.get(error.errno, '?')})"))
    return EnvironmentFailure(code, f"{shown(path)}: {text}")


def shown(path):
    """A path in a message: control characters and bytes that are not UTF-8 as escapes, and no longer than a line."""
    text = path[:200] + ("..." if len(path) > 200 else "")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
