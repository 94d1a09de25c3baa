"""The only way out of a sandbox with a network: a listener on the loopback interface.

Programs use it as their HTTP proxy. Its bytes go to the worker as messages of the step protocol, and the worker is the
proxy: it reads the requests, applies the rules of the run, resolves names and connects. Nothing here is a barrier: the
sandbox has no other interface, and the worker trusts no message.

1. A connection belongs to the worker that has said hello last, which the fence of its hello names. When a worker says
   hello, all connections are reset: no other worker has their other ends.
2. Each side sends at most WINDOW_BYTES of a connection that the other side has not passed on. So a program, or a server,
   that does not read stops its own connection, and nothing else.
3. A number names one connection, and is never used again.
4. Without a worker a connection waits: for the next hello, or for the time limit of its program.

| kind     | meaning                                                     |
|----------|-------------------------------------------------------------|
| open     | a program has connected                                     |
| data     | bytes, in Base64                                            |
| window   | so many bytes of the receiver were passed on                |
| end      | the sender sends no more                                    |
| close    | the connection is over in both directions: it is reset      |
"""

import asyncio
import os
import socket
import struct
from base64 import b64decode, b64encode
from collections import deque

WINDOW_BYTES = 128 * 1024
DATA_BYTES = 32 * 1024  # of one message
MAXIMUM_CONNECTIONS = 64
# The certificates that the system of the image trusts, such as those of a company, and the variables of clients that would
# use a list of their own.
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NODE_EXTRA_CA_CERTS")
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: the end of the socket is a reset


class Tunnel:
    def __init__(self, session):
        self.session = session
        self.owner = None  # fence of the hello of the worker
        self.connections = {}
        self.last_number = 0

    async def start(self, port):
        """Listens, and sets the environment variables with which programs find the proxy, and trust servers."""
        server = await asyncio.start_server(
            self._serve, "127.0.0.1", port, limit=DATA_BYTES, backlog=MAXIMUM_CONNECTIONS
        )
        host, port = server.sockets[0].getsockname()
        proxy, direct = f"http://{host}:{port}", f"localhost,{host}"
        names = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": direct}
        upper = {name.upper(): value for name, value in names.items()}
        os.environ.update({**names, **upper, "NODE_USE_ENV_PROXY": "1"})
        if os.path.exists(CERTIFICATES):
            for name in CERTIFICATE_VARIABLES:
                os.environ.setdefault(name, CERTIFICATES)

    def attach(self, fence):
        self.owner = fence
        for connection in [*self.connections.values()]:
            connection.reset()

    def receive(self, frame):
        """Handles a message of a worker. One of another worker, or for a connection that is over, is ignored."""
        connection = self.connections.get(frame["connection"])
        if connection is not None and frame["fence"] == self.owner:
            connection.receive(frame)

    async def _serve(self, reader, writer):
        if self.owner is None or len(self.connections) >= MAXIMUM_CONNECTIONS:
            _abort(writer)
            return
        self.last_number += 1
        connection = Connection(self, self.last_number, reader, writer)
        self.connections[connection.number] = connection
        try:
            await connection.run()
        finally:
            del self.connections[connection.number]


class Connection:
    def __init__(self, tunnel, number, reader, writer):
        self.tunnel, self.number = tunnel, number
        self.reader, self.writer = reader, writer
        self.credit = WINDOW_BYTES  # bytes that may be sent to the worker
        self.incoming = deque()  # bytes of the worker; None is their end
        self.passed_on = 0  # bytes of the worker since the last message `window`
        self.changed = [asyncio.Event(), asyncio.Event()]  # credit, incoming
        self.directions = ()
        self.is_closed_by_worker = False

    async def run(self):
        self._send("open")
        self.directions = [asyncio.ensure_future(self._send_all()), asyncio.ensure_future(self._receive_all())]
        try:
            await asyncio.gather(*self.directions)
            self.writer.close()
        except (OSError, asyncio.CancelledError):
            if not self.is_closed_by_worker:
                self._send("close")
            _abort(self.writer)
        finally:
            for direction in self.directions:
                direction.cancel()

    def receive(self, frame):
        kind = frame["kind"]
        if kind == "window":
            self.credit += frame["bytes"]
            self.changed[0].set()
        elif kind == "close":
            self.reset()
        else:
            self.incoming.append(b64decode(frame["text"]) if kind == "data" else None)
            self.changed[1].set()

    def reset(self):
        """The worker has closed the connection, or there is another worker."""
        self.is_closed_by_worker = True
        for direction in self.directions:
            direction.cancel()

    async def _send_all(self):
        while True:
            while self.credit <= 0:
                await self._wait(0)
            data = await self.reader.read(min(self.credit, DATA_BYTES))
            if not data:
                self._send("end")
                return
            self.credit -= len(data)
            self._send("data", text=b64encode(data).decode())

    async def _receive_all(self):
        while True:
            while not self.incoming:
                await self._wait(1)
            data = self.incoming.popleft()
            if data is None:
                self.writer.write_eof()
                return
            self.writer.write(data)
            await self.writer.drain()
            self.passed_on += len(data)
            if self.passed_on >= WINDOW_BYTES // 4:
                self._send("window", bytes=self.passed_on)
                self.passed_on = 0

    async def _wait(self, index):
        self.changed[index].clear()
        await self.changed[index].wait()

    def _send(self, kind, **members):
        identity = {"fence": self.tunnel.owner, "connection": self.number}
        self.tunnel.session.channel.send({"type": "network", **identity, "kind": kind, **members})


def _abort(writer):
    """Ends a connection with a reset."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
