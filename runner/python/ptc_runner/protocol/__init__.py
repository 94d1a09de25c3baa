"""The protocol between runner and host.

Owns the two descriptors of the protocol, framing, JSON, values that arrive in pieces, and the order of steps.
Boundary: it does not know tools and cells. It hands a step to the session and sends the result of the session.

1. User code does not find the protocol on descriptors 0, 1 and 2.
2. A frame is written whole, or the process ends. A forked child writes nothing.
3. No frame is lost when memory runs out: the frame is read again after the values are released.
4. A frame with a lower fence than the highest seen is refused and changes nothing.
5. A step number has one result. A repeated request gets the same result.
6. A step starts only when every value that it references is complete and has the expected SHA-256.
"""
