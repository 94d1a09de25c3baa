import { prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Code that waits for a time. */
export const timeCases: readonly CaseDefinition[] = [
  prints(
    'wait_for does not count computing between awaits',
    `
import asyncio, time
async def compute():
    begun = time.perf_counter()
    while time.perf_counter() - begun < 0.5:
        sum(range(100_000))  # each turn of the loop is a microsecond to its timers
        await asyncio.sleep(0)
    return "computed"
print(await asyncio.wait_for(compute(), 0.1))`,
    'computed\n',
  ),
]
