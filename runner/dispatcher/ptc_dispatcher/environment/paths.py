"""Paths of the session's folders: resolved, checked, and opened without following a link that has come meanwhile."""

import errno
import os
import secrets
import stat

from .failures import EnvironmentFailure, failure_of, shown

HOME, READABLE = "/tmp", ("/skills",)  # the folder of files, and those that can only be read

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a FIFO or a device does not wait.
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


class Place:
    """A path inside of a folder of the session. `given` is as the model wrote it."""

    def __init__(self, given, root, parts, is_writable):
        self.given, self.root, self.parts, self.is_writable = given, root, parts, is_writable

    @property
    def name(self):
        return self.parts[-1] if self.parts else ""

    @property
    def real(self):
        return os.path.join(self.root, *self.parts)


class Folders:
    def __init__(self, home, readable):
        """`home` may be written; relative paths begin there. The others may be read."""
        self.home = home
        self.roots = [(os.path.realpath(home), True), *((os.path.realpath(folder), False) for folder in readable)]

    def resolve(self, path):
        """Follows all links. Raises EnvironmentFailure for a path that leaves the folders, or that no file can have."""
        if path == "" or any(c < " " or "\x7f" <= c < "\xa0" for c in path):
            raise EnvironmentFailure("invalid_path", f"\"{shown(path)}\" is empty, or has control characters")
        try:
            real = os.path.realpath(os.path.join(self.home, path))
        except (ValueError, UnicodeEncodeError):
            raise EnvironmentFailure("invalid_path", f"{shown(path)} is not the path of a file") from None
        except OSError as error:
            raise failure_of(error, path) from None
        for root, is_writable in self.roots:
            if real == root or real.startswith(root.rstrip("/") + "/"):
                parts = [part for part in real[len(root) :].split("/") if part]
                return Place(path, root, parts, is_writable)
        folders = " and ".join(root for root, _ in self.roots)
        raise EnvironmentFailure("path_outside", f"{shown(path)} is outside of {folders}, or a link leads out of them")

    # -- opening

    def open_folder(self, place, creates=False):
        """Opens the folder of a path, and returns its descriptor. May make the folders that are missing."""
        return self._walk(place, place.parts, creates)

    def _walk(self, place, parts, creates=False):
        try:
            folder = os.open(place.root, _FOLDER)
            for part in parts:
                if creates:
                    try:
                        os.mkdir(part, 0o777, dir_fd=folder)
                    except FileExistsError:
                        pass
                try:
                    inner = open_inner_folder(part, folder)
                finally:
                    os.close(folder)
                folder = inner
            return folder
        except OSError as error:
            raise failure_of(error, place.given) from None

    def open_file(self, place):
        """Opens a regular file for reading, and returns its descriptor and status."""
        if not place.parts:
            raise EnvironmentFailure("not_a_file", f"{shown(place.given)} is a folder")
        folder = self._walk(place, place.parts[:-1])
        try:
            return open_regular(place.name, folder, place.given)
        finally:
            os.close(folder)

    def replace_file(self, place, data, creates):
        """Writes a file next to its place, and moves it there. Returns whether there was a file before."""
        if not place.is_writable:
            raise EnvironmentFailure("read_only", f"{shown(place.given)} is in a folder that can only be read")
        if not place.parts or place.given.endswith("/"):
            raise EnvironmentFailure("not_a_file", f"{shown(place.given)} is a folder")
        folder = self._walk(place, place.parts[:-1], creates)
        try:
            mode = _mode_of(place.name, folder, place.given)
            new = f".{secrets.token_hex(8)}.tmp"
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=folder)
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(file, view) :]
                os.fchmod(file, 0o644 if mode is None else mode)
                os.rename(new, place.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(new, dir_fd=folder)
                raise
            finally:
                os.close(file)
            return mode is not None
        except OSError as error:
            raise failure_of(error, place.given) from None
        finally:
            os.close(folder)


def open_regular(name, folder, given):
    """Opens a regular file in a folder for reading."""
    try:
        file = os.open(name, os.O_RDONLY | _FILE, dir_fd=folder)
    except OSError as error:
        raise failure_of(error, given) from None
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        os.close(file)
        raise EnvironmentFailure("not_a_file", f"{shown(given)} is {kind_of(status)}")
    return file, status


def open_inner_folder(name, folder):
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except NotADirectoryError:  # also for a link
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode) or stat.S_ISDIR(mode):
            raise OSError(errno.ELOOP, "a link") from None
        raise


def kind_of(status):
    return _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file")


def _mode_of(name, folder, given):
    """The permissions of the file that is replaced; None when there is none."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise EnvironmentFailure("not_a_file", f"{shown(given)} is {kind_of(status)}")
    return stat.S_IMODE(status.st_mode) & 0o777
