"""The way of programs to the network: connections that the worker carries on. See tunnel.py."""
