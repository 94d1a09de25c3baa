"""The socket by which any process of the sandbox calls tools: HTTP/1.1 on a unix socket, one request after another.

| request                      | answer                                                                             |
|------------------------------|------------------------------------------------------------------------------------|
| GET /health                  | {"status": "ok"}                                                                   |
| GET /tools/list              | {"tools": [{"name", "description", "parameters", "required"}]}                     |
| GET /tools/schema?name=NAME  | {"name", "description", "inputSchema"}                                             |
| GET /tools/help[?name=NAME]  | the text of `tool --help`                                                          |
| POST /tools/call             | {"name", "arguments"} or {"name", "words"}: the result as JSON                     |
| POST /tools/call?name=NAME   | the arguments: the result as JSON. No text of the arguments can name another tool  |
| POST /sleep                  | {"seconds"}: null, after this time of the program                                  |
| GET /time                    | {"time"}: seconds since 1970 by the clock of the program                           |

An error is {"error": {"status", "message"}}, or only the message for `Accept: text/plain`. The header Exit-Code has the
exit code for the command `tool`.

1. A client is untrusted: each line, header and body is bounded before it is kept, and a request that is not HTTP gets
   an answer in HTTP, and the connection is closed.
2. Only the user of the sandbox may connect (mode 0600).
3. Nothing limits how long an answer takes: the host limits calls.
"""

import asyncio
import json
import os
import socket
import struct
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from .arguments import arguments_of, help_of, list_of, summary_of
from .requests import ToolFailure, unknown_tool

MAXIMUM_LINE_BYTES = 8_192
MAXIMUM_HEADERS = 100
MAXIMUM_CONNECTIONS = 256
CACHE_SECONDS = 300
LINGER_SECONDS = 2

# Status of a failure: (HTTP status, exit code of `tool`).
STATUSES = {
    "bad_request": (400, 2),
    "invalid_arguments": (400, 2),
    "not_found": (404, 2),
    "method_not_allowed": (405, 2),
    "too_large": (413, 2),
    "busy": (503, 75),
    "tool_error": (422, 1),
    "denied": (403, 3),
    "timed_out": (504, 4),
    "outcome_unknown": (502, 5),
    "cancelled": (409, 6),
}


class ToolServer:
    def __init__(self, session, folder):
        self.session = session
        self.folder = folder
        self.path = os.path.join(folder, "tools.sock")
        self.server = None
        self.connections = 0

    @property
    def environment(self):
        """The environment of processes that may call tools."""
        commands = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(__file__)))), "bin")
        path = f"{commands}:{os.environ.get('PATH', os.defpath)}"
        # There is no terminal: nothing may wait for a pager, an editor or a password.
        quiet = {"PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "false", "GIT_SEQUENCE_EDITOR": "false"}
        has_environment = {"PTC_ENVIRONMENT": "1"} if "environment" in self.session.languages else {}
        return {**os.environ, "PATH": path, "PTC_TOOLS": self.path, **quiet, **has_environment}

    async def start(self):
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if os.path.lexists(self.path):
            os.unlink(self.path)
        listener = socket.socket(socket.AF_UNIX)
        mask = os.umask(0o177)
        try:
            listener.bind(self.path)
        finally:
            os.umask(mask)
        self.server = await asyncio.start_unix_server(
            self._serve, sock=listener, limit=MAXIMUM_LINE_BYTES, backlog=MAXIMUM_CONNECTIONS
        )

    async def ensure_listening(self):
        """Code may have removed the socket."""
        if not os.path.exists(self.path):
            self.server.close()
            await self.start()

    def close(self):
        if self.server is not None:
            self.server.close()
            self.server = None

    async def _serve(self, reader, writer):
        self.connections += 1
        try:
            if self.connections > MAXIMUM_CONNECTIONS:
                _respond_failure(writer, ToolFailure("busy", "too many connections"), {}, False)
                return
            pid = _peer(writer)
            while await self._serve_request(pid, reader, writer):
                await writer.drain()
            await _close_after_answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.connections -= 1
            writer.close()

    async def _serve_request(self, pid, reader, writer):
        """Serves one request. Returns whether the connection stays open."""
        headers = {}
        try:
            head = await _read_head(reader)
            if head is None:
                return False
            method, target, headers = head
            body = await _read_body(reader, headers, self.session.limits["argument_bytes"] + MAXIMUM_LINE_BYTES)
        except ToolFailure as failure:
            _respond_failure(writer, failure, headers, False)
            return False
        keeps = headers.get("connection", "").lower() != "close"
        handling = asyncio.ensure_future(self._handle(pid, method, target, body))
        closed = asyncio.ensure_future(reader.read(1))  # the next request comes after the answer, so it is the end
        try:
            await asyncio.wait((handling, closed), return_when=asyncio.FIRST_COMPLETED)
            if not handling.done():
                handling.cancel()
                return False
            if closed.done():
                keeps = False
            else:
                closed.cancel()
                await asyncio.wait((closed,))
            try:
                content_type, parts, extra = handling.result()
            except ToolFailure as failure:
                _respond_failure(writer, failure, headers, keeps)
                return keeps
            _respond(writer, 200, content_type, parts, keeps, {**extra, "Exit-Code": "0"})
            return keeps
        finally:
            closed.cancel()

    async def _handle(self, pid, method, target, body):
        """Returns the content type, the parts of the body, and further headers."""
        try:
            url = urlsplit(target)
        except ValueError:
            raise ToolFailure("bad_request", "the path of the request is invalid") from None
        requests = self.session.requests
        expected = {"/tools/call": "POST", "/sleep": "POST"}.get(url.path, "GET")
        if url.path in ROUTES and method != expected:
            raise ToolFailure("method_not_allowed", f"{url.path} takes {expected}")
        cached = {"Cache-Control": f"max-age={CACHE_SECONDS}"}
        name = parse_qs(url.query, keep_blank_values=True).get("name", [None])[0]
        signatures = list({signature["name"]: signature for signature in requests.tools.values()}.values())
        if url.path == "/health":
            return _json({"status": "ok"})
        if url.path == "/time":
            return _json({"time": self.session.read_clock() / 1_000})
        if url.path == "/tools/list":
            return _json({"tools": [_listed(signature) for signature in signatures]}, cached)
        if url.path == "/tools/help" and name is None:
            return "text/plain", [list_of(signatures).encode()], cached
        if url.path in ("/tools/help", "/tools/schema"):
            signature = requests.tools.get(name)
            if signature is None:
                raise ToolFailure("not_found", unknown_tool(name or "", requests.tools))
            if url.path == "/tools/help":
                return "text/plain", [help_of(signature).encode()], cached
            schema = signature.get("schema", {"type": "object"})
            return _json({"name": signature["name"], "description": summary_of(signature), "inputSchema": schema}, cached)
        if url.path == "/tools/call":
            content = _object(body)
            return await self._call(pid, content if name is None else {"name": name, "arguments": content})
        if url.path == "/sleep":
            seconds = _object(body).get("seconds")
            if type(seconds) not in (int, float) or not 0 <= seconds <= 1e9:
                raise ToolFailure("invalid_arguments", "seconds is a number from 0 to 1e9")
            await requests.sleep(pid, seconds)
            return _json(None)
        raise ToolFailure("not_found", f"there is no {url.path[:100]}")

    async def _call(self, pid, content):
        name, arguments, words = content.get("name"), content.get("arguments", {}), content.get("words")
        requests = self.session.requests
        if type(name) is not str:
            raise ToolFailure("bad_request", "`name` is the name of a tool")
        if words is not None:
            if type(words) is not list or not all(type(word) is str for word in words):
                raise ToolFailure("bad_request", "`words` is a list of texts")
            arguments = arguments_of(requests.tools.get(name, {}), words)
        if type(arguments) is not dict:
            raise ToolFailure("invalid_arguments", "the arguments are a JSON object")
        value, pieces = await requests.call(pid, name, arguments)
        return _json(value) if pieces is None else ("application/json", [*pieces, b"\n"], {})


ROUTES = {"/health", "/time", "/tools/list", "/tools/help", "/tools/schema", "/tools/call", "/sleep"}


async def _close_after_answer(reader, writer):
    """Reads what the client still sends, for a while. Closing at once could make it lose the answer."""
    await writer.drain()
    if not reader.at_eof():
        writer.write_eof()
        try:
            await asyncio.wait_for(_discard(reader), LINGER_SECONDS)
        except asyncio.TimeoutError:
            pass


async def _discard(reader):
    while await reader.read(1 << 16):
        pass


def _listed(signature):
    shown = {key: signature[key] for key in ("name", "parameters", "required")}
    return {**shown, "description": summary_of(signature)}


def _object(body):
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise ToolFailure("bad_request", f"the body is not JSON: {problem}") from None
    if type(content) is not dict:
        raise ToolFailure("bad_request", "the body is a JSON object")
    return content


def _json(value, headers=None):
    return "application/json", [json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), b"\n"], headers or {}


def _peer(writer):
    """Returns the process at the other end."""
    data = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return struct.unpack("3i", data)[0]


async def _line(reader):
    try:
        return (await reader.readuntil(b"\n")).rstrip(b"\r\n").decode("latin-1")
    except asyncio.LimitOverrunError:
        raise ToolFailure("too_large", "a line of the request is too long") from None


async def _read_head(reader):
    """Returns method, target and headers; None when the client has closed the connection."""
    try:
        first = await _line(reader)
    except asyncio.IncompleteReadError as end:
        if not end.partial:
            return None
        raise ToolFailure("bad_request", NO_HTTP) from None
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise ToolFailure("bad_request", NO_HTTP)
    headers = {}
    for _ in range(MAXIMUM_HEADERS):
        line = await _line(reader)
        if not line:
            return parts[0], parts[1], headers
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    raise ToolFailure("too_large", f"the request has more than {MAXIMUM_HEADERS} headers")


NO_HTTP = "this socket speaks HTTP/1.1: send `POST /tools/call HTTP/1.1`, or use the command `tool`"


async def _read_body(reader, headers, limit):
    too_large = ToolFailure("too_large", f"the body has more than {limit} bytes")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = b""
        while size := _number(await _line(reader), 16):
            if len(body) + size > limit:
                raise too_large
            body += await reader.readexactly(size)
            await _line(reader)
        for _ in range(MAXIMUM_HEADERS):
            if not await _line(reader):
                return body
        raise too_large
    length = _number(headers.get("content-length", "0"), 10)
    if length > limit:
        raise too_large
    return await reader.readexactly(length)


def _number(text, base):
    digits = text.partition(";")[0].strip()
    if not digits.isalnum() or len(digits) > 16:
        raise ToolFailure("bad_request", "the length of the body is not a number")
    try:
        return int(digits, base)
    except ValueError:
        raise ToolFailure("bad_request", "the length of the body is not a number") from None


def _respond_failure(writer, failure, headers, keeps):
    status, code = STATUSES.get(failure.status, (422, 1))
    if headers.get("accept") == "text/plain":
        content_type, parts = "text/plain", [failure.message.encode("utf-8", "replace"), b"\n"]
    else:
        content_type, parts, _ = _json({"error": {"status": failure.status, "message": failure.message}})
    _respond(writer, status, content_type, parts, keeps, {"Exit-Code": str(code)})


def _respond(writer, status, content_type, parts, keeps, headers):
    length = sum(map(len, parts))
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        f"Content-Type: {content_type}; charset=utf-8",
        f"Content-Length: {length}",
        *(f"{name}: {value}" for name, value in headers.items()),
        f"Connection: {'keep-alive' if keeps else 'close'}",
    ]
    writer.write("\r\n".join((*lines, "", "")).encode())
    for part in parts:
        writer.write(part)
