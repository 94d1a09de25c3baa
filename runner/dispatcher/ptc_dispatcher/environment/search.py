"""Lists of files, and lines that match a pattern."""

import heapq
import json
import os
import re
import stat
from fnmatch import fnmatchcase

from .failures import EnvironmentFailure, failure_of, shown
from .files import check_name
from .paths import open_inner_folder, open_regular
from .secret_texts import is_sensitive, mask_secrets

MAXIMUM_ENTRIES = 100
MAXIMUM_LISTED = 100_000  # by a program
MAXIMUM_COUNTED = 1_000_000
MAXIMUM_DEPTH = 64
MAXIMUM_MATCHES = 100
MAXIMUM_MATCH_CHARACTERS = 300
MAXIMUM_LINE_BYTES = 20_000  # of a line that is searched
MAXIMUM_FILE_BYTES = 64 << 20
HEAD_BYTES = 8_192


def list_files(tools, path=".", depth=1):
    place = tools.folders.resolve(path)
    folder = tools.folders.open_folder(place)
    counter = [0]
    entries = _count(_walk(folder, "", min(depth, MAXIMUM_DEPTH)), counter)
    if tools.is_raw:
        listed = heapq.nsmallest(MAXIMUM_LISTED, entries, key=lambda entry: entry[0])
        rows = [{"path": name, "type": _type_of(status), "size": status.st_size} for name, status, _ in listed]
        text = json.dumps(rows)
        if len(text) > tools.characters or counter[0] > len(listed):
            raise EnvironmentFailure("too_large", f"{shown(path)} has {counter[0]} entries: list folders below")
        return text
    listed = heapq.nsmallest(MAXIMUM_ENTRIES, entries, key=lambda entry: entry[0])
    if not listed:
        return "[the folder is empty]"
    lines = [_line_of(*entry) for entry in listed]
    if counter[0] > len(listed):
        more = "more than " if counter[0] >= MAXIMUM_COUNTED else ""
        rest = "list a folder below, or find names with a command"
        lines.append(f"[{len(listed)} of {more}{counter[0]} entries: {rest}]")
    return "\n".join(lines)


def _count(entries, counter):
    for entry in entries:
        counter[0] += 1
        yield entry
        if counter[0] >= MAXIMUM_COUNTED:
            return


def _walk(folder, prefix, depth):
    """Yields (path, status, target of a link). Closes the folder."""
    try:
        with os.scandir(folder) as found:
            for entry in found:
                name = f"{prefix}{entry.name}"
                try:
                    status = entry.stat(follow_symlinks=False)
                    target = os.readlink(entry.name, dir_fd=folder) if stat.S_ISLNK(status.st_mode) else None
                    yield name, status, target
                    if depth > 1 and stat.S_ISDIR(status.st_mode):
                        yield from _walk(open_inner_folder(entry.name, folder), f"{name}/", depth - 1)
                except OSError:  # it has just been removed, or may not be read
                    continue
    finally:
        os.close(folder)


def _type_of(status):
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
    return kinds.get(stat.S_IFMT(status.st_mode), "other")


def _line_of(name, status, target):
    kind = _type_of(status)
    if kind == "folder":
        return f"{shown(name)}/"
    if kind == "link":
        return f"{shown(name)} -> {shown(target)}"
    return f"{shown(name)}  {status.st_size} bytes" if kind == "file" else f"{shown(name)}  (no regular file)"


def grep(tools, pattern, path=".", glob=None, ignore_case=False):
    try:
        expression = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as problem:
        raise EnvironmentFailure("invalid_pattern", f"it is no regular expression: {problem}") from None
    place = tools.folders.resolve(path)
    search = Search(tools, expression, glob)
    status = os.stat(place.real, follow_symlinks=False) if os.path.lexists(place.real) else None
    if status is not None and not stat.S_ISDIR(status.st_mode):
        check_name(tools, place)
        descriptor, _ = tools.folders.open_file(place)
        search.search_file(descriptor, place.given)
    else:
        prefix = "" if path == "." else path.rstrip("/") + "/"
        search.search_folder(tools.folders.open_folder(place), prefix, MAXIMUM_DEPTH)
    return search.result()


class Search:
    def __init__(self, tools, expression, glob):
        self.tools, self.expression, self.glob = tools, expression, glob
        self.matches = []
        self.files = self.skipped = 0
        self.is_full = False

    def search_folder(self, folder, prefix, depth):
        """Searches in the order of the names. Closes the folder."""
        try:
            for name in sorted(os.listdir(folder)):
                if self.is_full:
                    return
                try:
                    self._search_entry(name, folder, prefix, depth)
                except (OSError, EnvironmentFailure):  # it has just been removed, or may not be read
                    self.skipped += 1
        finally:
            os.close(folder)

    def _search_entry(self, name, folder, prefix, depth):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode) and depth > 0 and name != ".git":
            self.search_folder(open_inner_folder(name, folder), f"{prefix}{name}/", depth - 1)
        elif stat.S_ISREG(status.st_mode) and (self.glob is None or fnmatchcase(name, self.glob)):
            if is_sensitive(name):
                self.skipped += 1
                return
            self.search_file(open_regular(name, folder, name)[0], prefix + name)

    def search_file(self, descriptor, path):
        with os.fdopen(descriptor, "rb") as file:
            self.files += 1
            if b"\0" in file.read(HEAD_BYTES):
                self.skipped += 1
                return
            file.seek(0)
            number, at_begin = 0, True
            while file.tell() < MAXIMUM_FILE_BYTES and (line := file.readline(MAXIMUM_LINE_BYTES)):
                number += at_begin
                at_begin = line.endswith(b"\n")
                text = line.decode(errors="replace").rstrip("\r\n")
                if self.expression.search(text) is not None:
                    self._add(path, number, text)
                    if self.is_full:
                        return

    def _add(self, path, number, text):
        if len(self.matches) == MAXIMUM_MATCHES:
            self.is_full = True
            return
        cut = f"{text[:MAXIMUM_MATCH_CHARACTERS]} [...]" if len(text) > MAXIMUM_MATCH_CHARACTERS else text
        self.matches.append(f"{shown(path)}:{number}: {cut}")

    def result(self):
        notes = [f"[no line matches in {self.files} files]"] if not self.matches else []
        if self.is_full:
            notes.append(f"[more than {MAXIMUM_MATCHES} lines match: narrow the pattern, the path or the glob]")
        if self.skipped:
            notes.append(f"[{self.skipped} files were not searched: binary, with keys or passwords, or not readable]")
        return "\n".join((*([mask_secrets("\n".join(self.matches))] if self.matches else []), *notes))
