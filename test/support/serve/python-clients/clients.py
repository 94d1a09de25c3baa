"""Published clients of the Messages API against one server, each as its users write it.

Usage: clients.py URL CLIENT... Prints one line of JSON for each client: its name, and the answer or the error.
"""

import asyncio
import json
import sys
import traceback

import anthropic

url = sys.argv[1]
question = "How warm is it in Oslo and in Rome?"
asked = []


def get_weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: Name of the city.
    """
    asked.append(city)
    return f"15 in {city}"


def text_of(message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def options():
    return {"model": "scripted", "max_tokens": 1000, "messages": [{"role": "user", "content": question}]}


def tool_runner():
    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    return text_of(client.beta.messages.tool_runner(tools=[anthropic.beta_tool(get_weather)], **options()).until_done())


async def async_tool_runner():
    client = anthropic.AsyncAnthropic(base_url=url, api_key="any", max_retries=0)

    @anthropic.beta_async_tool
    async def get_weather(city: str) -> str:
        """The weather of a city."""
        asked.append(city)
        return f"15 in {city}"

    return text_of(await client.beta.messages.tool_runner(tools=[get_weather], **options()).until_done())


def streaming_tool_runner():
    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    runner = client.beta.messages.tool_runner(tools=[anthropic.beta_tool(get_weather)], stream=True, **options())
    return [text_of(stream.get_final_message()) for stream in runner][-1]


def lite_llm():
    import litellm

    parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = {"type": "function", "function": {"name": "get_weather", "description": "x", "parameters": parameters}}
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": question}]
    for _ in range(3):
        reply = litellm.completion(
            model="anthropic/scripted", api_base=url, api_key="any", messages=messages, tools=[tool], num_retries=0
        )
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content
        for call in message.tool_calls:
            result = get_weather(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("no answer")


def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = anthropic.AsyncAnthropic(base_url=url, api_key="any", max_retries=0)
    model = AnthropicModel("scripted", provider=AnthropicProvider(anthropic_client=client))
    agent = Agent(model, tools=[get_weather], instructions="Be short.")
    return agent.run_sync(question).output


def lang_chain():
    from langchain.agents import create_agent
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model="scripted", base_url=url, api_key="any", max_retries=0, max_tokens=1000)
    agent = create_agent(model=model, tools=[get_weather], system_prompt="Be short.")
    message = agent.invoke({"messages": [{"role": "user", "content": question}]})["messages"][-1]
    return message.content if isinstance(message.content, str) else "".join(part["text"] for part in message.content)


def parse():
    from pydantic import BaseModel

    class Weather(BaseModel):
        degrees: int

    client = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    return client.messages.parse(output_format=Weather, **options()).parsed_output.degrees


def lang_chain_structured():
    from langchain_anthropic import ChatAnthropic
    from pydantic import BaseModel

    class Weather(BaseModel):
        degrees: int

    model = ChatAnthropic(model="scripted", base_url=url, api_key="any", max_retries=0, max_tokens=1000)
    return model.with_structured_output(Weather, method="json_schema").invoke(question).degrees


for client in (globals()[name] for name in sys.argv[2:]):
    asked.clear()
    try:
        answer = asyncio.run(client()) if asyncio.iscoroutinefunction(client) else client()
        print(json.dumps({"client": client.__name__, "answer": answer, "asked": sorted(asked)}), flush=True)
    except Exception:
        print(json.dumps({"client": client.__name__, "error": traceback.format_exc()[-2000:]}), flush=True)
