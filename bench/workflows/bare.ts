import { proxyActivities } from '@temporalio/workflow'

const { noop, work } = proxyActivities<{
  noop(value: number): Promise<number>
  /** Takes 20 ms. */
  work(): Promise<void>
}>({ startToCloseTimeout: '30s' })

const { gate } = proxyActivities<{ gate(name: string): Promise<void> }>({ startToCloseTimeout: '10m' })

/** Reference of every measurement: sequential activities without work. */
export async function bareSequential(calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) await noop(call)
}

/** The same activities in parallel. */
export async function bareParallel(calls: number): Promise<void> {
  await Promise.all(Array.from({ length: calls }, (_, call) => noop(call)))
}

/** Sequential activities between two gates. */
export async function bareBetweenGates(calls: number): Promise<void> {
  await gate('start')
  await bareSequential(calls)
  await gate('end')
}

/** Sequential activities of 20 ms. */
export async function bareWork(calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) await work()
}
