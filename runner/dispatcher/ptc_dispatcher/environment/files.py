"""Reading, writing and editing text files."""

import codecs
import os

from .failures import EnvironmentFailure, failure_of, shown
from .secret_texts import MASK, is_sensitive, mask_secrets, mask_values

CHUNK_BYTES = 1 << 20
MAXIMUM_SCANNED_BYTES = 256 << 20  # whose lines are counted
MAXIMUM_EDITED_BYTES = 16 << 20
MAXIMUM_LINE_CHARACTERS = 2_000
RESERVED_CHARACTERS = 300  # for the note
SHOWN_PLACES = 10
BYTE_ORDER_MARK = codecs.BOM_UTF8

_FORMATS = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"), (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive, or a document of an office program"), (b"\x1f\x8b", "compressed with gzip"),
    (b"\x7fELF", "a program"), (b"SQLite format 3", "an SQLite database"),
)  # fmt: skip


def check_name(tools, place):
    """Refuses a file with keys or passwords. A link has two names."""
    if tools.refuses_sensitive and is_sensitive(place.name, os.path.basename(place.given.rstrip("/"))):
        rule = "its name says that it has keys or passwords, and a rule of this environment refuses such files"
        raise EnvironmentFailure("sensitive_file", f"{shown(place.given)}: {rule}")


def read_file(tools, path, first_line=1, line_count=None):
    place = tools.folders.resolve(path)
    check_name(tools, place)
    descriptor, status = tools.folders.open_file(place)
    with os.fdopen(descriptor, "rb") as file:
        head = file.read(CHUNK_BYTES)
        check_text(head, place, status)
        file.seek(0)
        if tools.is_raw:
            return _whole_text(file, place, status, tools.characters)
        return _lines(tools, file, place, first_line, line_count)


def check_text(head, place, status):
    if b"\0" not in head and not head.startswith(b"%PDF"):
        return
    known = next((f", {text}" for magic, text in _FORMATS if head.startswith(magic)), "")
    what = f"{status.st_size} bytes{known}"
    raise EnvironmentFailure("binary_file", f"{shown(place.given)} is no text: {what}. Read it with code.")


def _whole_text(file, place, status, limit):
    if status.st_size > limit:
        sizes = f"{status.st_size} bytes, and {limit} can be read at once"
        raise EnvironmentFailure("too_large", f"{shown(place.given)} has {sizes}")
    try:
        return file.read(limit).decode()
    except UnicodeDecodeError as problem:
        raise EnvironmentFailure("not_text", f"{shown(place.given)} is not UTF-8 at byte {problem.start}") from None


def _lines(tools, file, place, first_line, line_count):
    """The lines with their numbers, as far as they fit; and what is missing."""
    hides = is_sensitive(place.name, os.path.basename(place.given))
    last = None if line_count is None else first_line + line_count - 1
    shown_lines, free = [], max(tools.characters - RESERVED_CHARACTERS, RESERVED_CHARACTERS)
    number, has_invalid = 0, False
    for number, line in _split(file):
        if number < first_line:
            continue
        if last is not None and number > last:
            number += _count_lines(file)
            break
        text = line.decode(errors="replace")
        has_invalid = has_invalid or "\ufffd" in text
        text = mask_values(text) if hides else text
        if len(text) > MAXIMUM_LINE_CHARACTERS:
            text = f"{text[:MAXIMUM_LINE_CHARACTERS]}[... {len(text) - MAXIMUM_LINE_CHARACTERS} more characters]"
        free -= len(text) + 8
        if free < 0 and shown_lines:
            number += _count_lines(file)
            break
        shown_lines.append(f"{number:6}\t{text}")
    if number == 0:
        return "[the file is empty]"
    if number < first_line:
        problem = f"{shown(place.given)} has {number} lines, so there is no line {first_line}"
        raise EnvironmentFailure("invalid_arguments", problem)
    end = first_line + len(shown_lines) - 1
    more = "more than " if file.tell() >= MAXIMUM_SCANNED_BYTES else ""
    notes = []
    if first_line > 1 or end < number:
        notes.append(f"[lines {first_line} to {end} of {more}{number}]")
    if has_invalid:
        notes.append("[bytes that are not UTF-8 are shown as \ufffd]")
    return "\n".join((mask_secrets("\n".join(shown_lines)), *notes))


def _split(file):
    """Yields the lines with their numbers, without line ends and byte order mark. A line ends with LF or CRLF."""
    number = 0
    while file.tell() < MAXIMUM_SCANNED_BYTES:
        line = file.readline(CHUNK_BYTES)
        if not line:
            return
        is_complete = line.endswith(b"\n")
        while not is_complete and (rest := file.readline(CHUNK_BYTES)):  # the end of a long line is not kept
            is_complete = rest.endswith(b"\n")
        number += 1
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def _count_lines(file):
    """The number of lines from here on."""
    count, end = 0, b"\n"
    while file.tell() < MAXIMUM_SCANNED_BYTES and (data := file.read(CHUNK_BYTES)):
        count += data.count(b"\n")
        end = data[-1:]
    return count + (end != b"\n")


def write_file(tools, path, content):
    place = tools.folders.resolve(path)
    check_name(tools, place)
    data = _encode("content", content)
    existed = tools.folders.replace_file(place, data, creates=True)
    return f"{'replaced' if existed else 'created'} {shown(place.real)}: {len(data)} bytes"


def edit_file(tools, path, old_text, new_text, replace_all=False):
    if old_text == "":
        raise EnvironmentFailure("invalid_arguments", "old_text is empty: write_file makes a file")
    if old_text == new_text:
        raise EnvironmentFailure("invalid_arguments", "old_text and new_text are the same")
    place = tools.folders.resolve(path)
    check_name(tools, place)
    descriptor, status = tools.folders.open_file(place)
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size > MAXIMUM_EDITED_BYTES:
            sizes = f"{status.st_size} bytes, and {MAXIMUM_EDITED_BYTES} can be edited"
            raise EnvironmentFailure("too_large", f"{shown(path)} has {sizes}")
        try:
            data = file.read(MAXIMUM_EDITED_BYTES)
        except OSError as error:
            raise failure_of(error, path) from None
    check_text(data, place, status)
    old, new = _fit_line_ends(data, _encode("old_text", old_text), _encode("new_text", new_text))
    places = _places(data, old)
    if not places:
        raise EnvironmentFailure("no_match", f"old_text is not in {shown(path)}. {_no_match_advice(old_text)}")
    if len(places) > 1 and not replace_all:
        lines = ", ".join(str(_line_of(data, at)) for at in places[:SHOWN_PLACES])
        more = " ..." if len(places) > SHOWN_PLACES else ""
        rule = "add lines around it until it is there once, or pass replace_all"
        found = f"old_text is {len(places)} times in {shown(path)}, at lines {lines}{more}"
        raise EnvironmentFailure("several_matches", f"{found}: {rule}")
    first = _line_of(data, places[0])
    tools.folders.replace_file(place, data.replace(old, new), creates=False)
    count = "1 occurrence" if len(places) == 1 else f"{len(places)} occurrences"
    return f"replaced {count} in {shown(place.real)}, the first at line {first}"


def _fit_line_ends(data, old, new):
    """Texts of models have LF. In a file whose lines end with CRLF, it stands for CRLF."""
    if data.count(b"\r\n") * 2 <= data.count(b"\n"):
        return old, new
    if b"\n" in old and old in data:  # the file has both kinds of line ends
        return old, new
    return tuple(text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for text in (old, new))


def _places(data, old):
    places, at = [], data.find(old)
    while at >= 0:
        places.append(at)
        at = data.find(old, at + len(old))
    return places


def _line_of(data, at):
    return data.count(b"\n", 0, at) + 1


def _no_match_advice(old_text):
    if MASK in old_text:
        return f"{MASK} stands for a key or a password, which can't be edited."
    return "Read the file: it must have these characters, with their indentation and without line numbers."


def _encode(name, text):
    try:
        return text.encode()
    except UnicodeEncodeError:
        problem = f"{name} has a half of a surrogate pair, which no file can have"
        raise EnvironmentFailure("invalid_arguments", problem) from None
