import type { FoundWaits } from '../../client/run/open-waits.js'
import type { Environment } from '../environment/environment.js'

/** What the runs of the task queue wait for, as `ptc.waits()` has it, and whether runs were left out. */
export async function readOpenWaits({ client, ptc }: Environment): Promise<FoundWaits> {
  const { waitsOfRuns } = await import('../../client/run/open-waits.js')
  // Without the values of the runs: nothing is shown of their code and output.
  return waitsOfRuns(client, ptc.taskQueue, (id) => ptc.handle(id).tree({ values: undefined }), {})
}

/** For people: not all runs were looked at. */
export function describeLimit(limit: number): string {
  return `only ${limit} of the open runs were looked at: others may wait, too`
}
