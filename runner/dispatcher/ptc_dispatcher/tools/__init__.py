"""Tool calls from any process: the socket, the open requests, the text of the help."""
