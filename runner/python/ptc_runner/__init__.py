"""The Python runner of durable-ptc; runner.py tells how it hangs together."""
