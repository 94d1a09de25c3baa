import { ApplicationFailure } from '@temporalio/workflow'
import { openSession, type WorkflowSession } from 'durable-ptc/workflow'

interface Drop {
  readonly shop: string
  readonly month: number
}

/** Looks for months with few sales, and for their reasons: each step depends on what the step before has found. */
export async function explainDrops(shops: string[]): Promise<string[]> {
  const session = await openSession({ input: { shops }, limits: { cellSeconds: 30 } })
  try {
    await execute(session, 'import json, statistics\nsales = {s: await sales_of(shop=s) for s in input_data["shops"]}')
    const drops = JSON.parse(
      await execute(
        session,
        `usual = {shop: statistics.median(months) for shop, months in sales.items()}
print(json.dumps([{"shop": s, "month": i + 1} for s in sales for i, n in enumerate(sales[s]) if n < usual[s] / 2]))`,
      ),
    ) as Drop[]
    const reasons: string[] = []
    for (const { shop, month } of drops) {
      const source = `print("; ".join(await incidents_of(shop=${JSON.stringify(shop)}, month=${month})) or "unknown")`
      reasons.push(`${shop}, month ${month}: ${(await execute(session, source)).trim()}`)
    }
    return reasons
  } finally {
    await session.close()
  }
}

/** What the code prints. */
async function execute(session: WorkflowSession, source: string): Promise<string> {
  const outcome = await session.execute(source)
  if (outcome.status === 'ok') return outcome.output
  throw ApplicationFailure.nonRetryable(`the code ended with ${outcome.status}: ${outcome.error}`, 'CodeFailed')
}
