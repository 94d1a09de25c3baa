"""Cells: each kind starts, is resumed, is stopped, and reports its messages in the form of the step protocol.

`message` is None while the cell runs; then the message of a step, until `take_message`. A cell reports each change to
`session.changed`. A cell whose message was `completed` or `failed` has ended.
"""
