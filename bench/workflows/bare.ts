import { proxyActivities } from '@temporalio/workflow'

const { noop } = proxyActivities<{ noop(value: number): Promise<number> }>({ startToCloseTimeout: '30s' })

/** Reference of every measurement: sequential activities without work. */
export async function bareSequential(calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) await noop(call)
}

/** The same in parallel. */
export async function bareParallel(calls: number): Promise<void> {
  await Promise.all(Array.from({ length: calls }, (_, call) => noop(call)))
}
