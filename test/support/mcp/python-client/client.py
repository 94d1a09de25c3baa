"""The official MCP client for Python as a host of `ptc mcp`: prints one line of JSON.

Arguments: the mode of the protocol (`auto` or `legacy`), the name of a session, and the command with its arguments.
"""

import asyncio
import json
import os
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import ElicitResult

mode, session, command, *arguments = sys.argv[1:]
code = """
print((await add(a=1, b=2))["sum"])
print(await pay(euros=5))
"""


async def approve(context, params):
    return ElicitResult(action="accept", content={"decision": "approve"})


async def main():
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    async with Client(server, mode=mode, elicitation_callback=approve) as client:
        tools = (await client.list_tools()).tools
        executed = await client.call_tool("execute_code", {"code": code, "session": session})
        added = await client.call_tool("add", {"a": 40, "b": 2})
        version = client.protocol_version
    print(
        json.dumps(
            {
                "version": version,
                "tools": [tool.name for tool in tools],
                "output": executed.content[0].text,
                "sum": added.structured_content,
            }
        )
    )


asyncio.run(main())
