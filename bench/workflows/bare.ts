import { proxyActivities } from '@temporalio/workflow'

const { noop } = proxyActivities<{ noop(value: number): Promise<number> }>({ startToCloseTimeout: '30s' })

/** What every figure is measured against: activities that do nothing, one after the other. */
export async function bareSequential(calls: number): Promise<void> {
  for (let call = 0; call < calls; call += 1) await noop(call)
}

/** All at once. */
export async function bareParallel(calls: number): Promise<void> {
  await Promise.all(Array.from({ length: calls }, (_, call) => noop(call)))
}
