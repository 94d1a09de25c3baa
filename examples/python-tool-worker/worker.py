"""A Temporal worker in Python. Its activities are tools of durable-ptc; it needs no code of durable-ptc."""

import asyncio
from dataclasses import dataclass
from statistics import linear_regression

from temporalio import activity
from temporalio.client import Client
from temporalio.envconfig import ClientConfig
from temporalio.worker import Worker


class ToolError(Exception):
    """A definite no: nothing happened, and the call is not retried. The name of the class is what counts."""


@dataclass
class Series:
    values: list[float]
    steps: int = 1


@activity.defn(name="forecast")
async def forecast(series: Series) -> list[float]:
    """The next values of a series, by linear regression."""
    if len(series.values) < 2:
        raise ToolError("a forecast needs two values")
    count = len(series.values)
    slope, intercept = linear_regression(range(count), series.values)
    return [round(intercept + slope * step, 2) for step in range(count, count + series.steps)]


async def main() -> None:
    client = await Client.connect(**ClientConfig.load_client_connect_config())
    print("worker ready", flush=True)
    await Worker(client, task_queue="forecasts", activities=[forecast]).run()


if __name__ == "__main__":
    asyncio.run(main())
