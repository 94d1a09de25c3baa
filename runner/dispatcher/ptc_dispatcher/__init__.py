"""The dispatcher: see ../dispatcher.py."""
