"""The Python runner of durable-ptc; runner.py describes its packages."""
