import { proxyActivities } from '@temporalio/workflow'
import { runProgram } from 'durable-ptc/workflow'
import type * as activities from './activities.js'

const { placeOrder } = proxyActivities<typeof activities>({ startToCloseTimeout: '10s' })

/** What a model could have written: it needs the tools of this worker, and runs in a sandbox. */
const source = `
import asyncio, json

articles = ['bolt', 'nut', 'washer']
stocks = await asyncio.gather(*(stock(article=article) for article in articles))
daily = await asyncio.gather(*(sales(article=article) for article in articles))
orders = {a: 14 * d - s for a, s, d in zip(articles, stocks, daily) if s < 7 * d}
print(json.dumps(orders))
`

/** A workflow that this worker had before. It now lets a program decide what to order. */
export async function restock(): Promise<string[]> {
  const { outcome } = await runProgram({ source })
  const orders: Record<string, number> = outcome.status === 'ok' ? JSON.parse(outcome.output) : {}
  return Promise.all(Object.entries(orders).map(([article, pieces]) => placeOrder(article, pieces)))
}
