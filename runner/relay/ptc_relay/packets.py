"""Packets in a stream of bytes that may begin in the middle, lose bytes, and mix those of two senders.

A zero byte is before and after each packet, and nowhere in it: 0 is sent as 1 3, and 1 as 1 2. So a reader finds the
next packet after any damage, and data never looks like a packet. A packet is a type (1 byte), the number of the owner
(4), an offset (8), an acknowledged offset (8), data, and a CRC-32 of all of it (4); numbers are big-endian.
"""

import struct
import zlib

HELLO, DATA, ACK, PING, INTERRUPT, KILL, WELCOME, EXIT, EXIT_ACK, OFFER = range(1, 11)
HEADER = struct.Struct(">BIQQ")
CHECKSUM = struct.Struct(">I")
MAXIMUM_DATA = 32 * 1024
MAXIMUM_ENCODED = 2 * (HEADER.size + MAXIMUM_DATA + CHECKSUM.size)


def encode(kind, owner, offset, acknowledged, data=b""):
    packet = HEADER.pack(kind, owner, offset, acknowledged) + data
    packet += CHECKSUM.pack(zlib.crc32(packet))
    return b"\0" + packet.replace(b"\1", b"\1\2").replace(b"\0", b"\1\3") + b"\0"


def decode(encoded):
    """Returns kind, owner, offset, acknowledged offset and data; None for anything that is not a whole packet."""
    packet = encoded.replace(b"\1\3", b"\0").replace(b"\1\2", b"\1")
    end = len(packet) - CHECKSUM.size
    if end < HEADER.size or CHECKSUM.unpack_from(packet, end)[0] != zlib.crc32(packet[:end]):
        return None
    return *HEADER.unpack_from(packet), packet[HEADER.size : end]


class PacketReader:
    """Finds the packets in chunks of any size. Keeps no more than a packet."""

    def __init__(self):
        self.rest = b""

    def push(self, chunk):
        *encoded, self.rest = (self.rest + chunk).split(b"\0")
        if len(self.rest) > MAXIMUM_ENCODED:
            self.rest = b""  # no packet is that long: its end is not one, either, and is dropped by its checksum
        return [packet for packet in map(decode, filter(None, encoded)) if packet is not None]
