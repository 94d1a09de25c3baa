"""The numbered bytes between a runner and the owner of its sandbox. Does no input and output.

The owner has a number, which is in each packet in both directions, so that a host sees that another one has taken over.
A hello has a nonce. The first one of a host is answered by an offer of the next number, and only the hello with this
number takes over, unless a host with a higher one has: a delayed hello, whose host has given up, takes nothing. A
repeated hello of the owner resumes its stream.

A receiver acknowledges what it has, and tells separately how much of it was read: the sender sends no more than a
window beyond that.
"""

import struct

from . import packets
from .packets import MAXIMUM_DATA

WINDOW = 1 << 20
RESEND_SECONDS = 1
SILENCE_SECONDS = 45  # without a packet of the owner nothing is sent: nobody reads it, but a node may log it
REMEMBERED_OFFERS = 64
NONCE_BYTES = 16
READ_OFFSET = struct.Struct(">Q")


class Stream:
    def __init__(self, now):
        self.owner = 0
        self.nonce = None  # of the owner
        self.offers = {}  # numbers by nonce, the newest last
        self.last_offer = 0
        self.heard_at = now  # when the owner has sent a packet
        self.output = bytearray()  # of the runner, from `base` on: not acknowledged
        self.base = self.sent = 0
        self.limit = 0  # the owner has room for bytes below this offset
        self.sent_at = now
        self.input = bytearray()  # for the runner
        self.received = 0  # bytes from owners, those in `input` included
        self.told_read = 0  # of the bytes of `received`, what the owner knows to be read
        self.answers = []  # packets that are due
        self.is_ack_due = False
        self.interrupts = 0  # the number of the owner's last interrupt
        self.wants_interrupt = False
        self.is_killed = False
        self.exit = None  # the JSON of the end of the runner
        self.exit_sent_at = None
        self.is_exit_acknowledged = False

    def receive(self, packet, now):
        kind, owner, offset, acknowledged, data = packet
        if kind == packets.HELLO:
            if not self._welcome(owner, data[:NONCE_BYTES], data[NONCE_BYTES:] == b"\1", offset, acknowledged):
                return
        elif owner != self.owner or owner == 0:
            return
        else:
            self._acknowledge(acknowledged, now)
        self.heard_at = now
        if kind == packets.DATA:
            self._take(offset, data)
        elif kind in (packets.ACK, packets.PING):
            self.limit = max(self.limit, offset + WINDOW)
            self.is_ack_due = self.is_ack_due or kind == packets.PING
        elif kind == packets.INTERRUPT:
            if offset > self.interrupts:
                self.interrupts, self.wants_interrupt = offset, True
            self._answer(packets.INTERRUPT, self.interrupts)
        elif kind == packets.KILL:
            self.is_killed = True
        elif kind == packets.EXIT_ACK:
            self.is_exit_acknowledged = self.exit is not None

    def _welcome(self, number, nonce, resumes, read, acknowledged):
        is_owner = nonce == self.nonce
        if not is_owner and number == 0:
            if len(nonce) == NONCE_BYTES and not resumes:
                self._answer(packets.OFFER, 0, nonce, self._offer(nonce))
            return False
        if not is_owner and (resumes or number != self.offers.get(nonce) or number < self.owner):
            self._answer(packets.WELCOME)  # its number of the owner shows that another one has taken over
            return False
        if not is_owner:
            self.owner, self.nonce = number, nonce
            self.interrupts = 0
            self.limit = self.base + WINDOW
        elif resumes and self.base <= acknowledged <= self.base + len(self.output):
            self._drop(acknowledged)
            self.limit = max(self.limit, read + WINDOW)
        self.sent = self.base
        self.exit_sent_at = None
        self.told_read = self.read
        self._answer(packets.WELCOME, self.base, nonce + READ_OFFSET.pack(self.read))
        return True

    def _offer(self, nonce):
        if nonce not in self.offers:
            self.last_offer += 1
            self.offers[nonce] = self.last_offer
            if len(self.offers) > REMEMBERED_OFFERS:
                del self.offers[next(iter(self.offers))]
        return self.offers[nonce]

    def _answer(self, kind, offset=0, data=b"", owner=None):
        if len(self.answers) < 16:
            # The number of the owner at this time: a later hello in the same chunk must not change it.
            self.answers.append((kind, self.owner if owner is None else owner, offset, data))

    def _acknowledge(self, offset, now):
        if self.base < offset <= self.base + len(self.output):
            self._drop(offset)
            self.sent = max(self.sent, offset)
            self.sent_at = now

    def _drop(self, offset):
        del self.output[: offset - self.base]
        self.base = offset

    def _take(self, offset, data):
        known = self.received - offset
        # After a gap nothing is taken: the owner sends all of it again. An honest owner keeps within the window.
        if 0 <= known < len(data) and len(self.input) < WINDOW:
            self.input += data[known:]
            self.received += len(data) - known
        self.is_ack_due = True

    @property
    def read(self):
        return self.received - len(self.input)

    @property
    def room(self):
        """How many bytes of the runner may be read."""
        return WINDOW - len(self.output)

    def next_packet(self, now):
        """Returns the next encoded packet to send; None when there is none."""
        if self.answers:
            kind, owner, offset, data = self.answers.pop(0)
            return packets.encode(kind, owner, offset, self.received, data)
        if self.owner == 0 or now - self.heard_at > SILENCE_SECONDS:
            return None
        if self.is_ack_due or self.read - self.told_read > WINDOW // 4:
            self.is_ack_due, self.told_read = False, self.read
            return packets.encode(packets.ACK, self.owner, self.read, self.received)
        if self.sent > self.base and now - self.sent_at > RESEND_SECONDS:
            self.sent = self.base
        start = self.sent - self.base
        end = min(len(self.output), start + MAXIMUM_DATA, self.limit - self.base)
        if start < end:
            offset, self.sent, self.sent_at = self.sent, self.base + end, now
            return packets.encode(packets.DATA, self.owner, offset, self.received, bytes(self.output[start:end]))
        if start < len(self.output) and now - self.sent_at > RESEND_SECONDS:
            # The acknowledgement that made room may be lost. Empty data is answered by what was read.
            self.sent_at = now
            return packets.encode(packets.DATA, self.owner, self.sent, self.received)
        if self.exit is not None and not self.is_exit_acknowledged and start == len(self.output):
            if self.exit_sent_at is None or now - self.exit_sent_at > RESEND_SECONDS:
                self.exit_sent_at = now
                return packets.encode(packets.EXIT, self.owner, self.sent, self.received, self.exit)
        return None

    @property
    def is_ended(self):
        """Whether the owner has everything of a runner that has exited."""
        return self.is_exit_acknowledged and not self.output
