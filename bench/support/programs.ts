import { randomUUID } from 'node:crypto'
import type { WorkflowHandle } from '@temporalio/client'
import type { Limits } from '../../dist/common/run/limits.js'
import { type HistoryMeasurement, measureHistory } from './history.js'
import type { Stack } from './stack.js'

/** Runs a program, and measures it from the opened session until its last call, which is made for this. */
export async function measureProgram(stack: Stack, source: string): Promise<HistoryMeasurement> {
  const handle = await startProgram(stack, `${source}\nawait finish()`)
  await outputOf(handle)
  return measureHistory(handle, ['session.open', 'finish'])
}

/** @param limits that replace the default ones */
export function startProgram(
  { client, taskQueue }: Stack,
  source: string,
  limits: Partial<Limits> = {},
): Promise<WorkflowHandle> {
  return client.workflow.start('program', { taskQueue, workflowId: randomUUID(), args: [{ source, limits }] })
}

/**
 * Waits for the end of a program and returns its output.
 *
 * @throws Error when the program has failed
 */
export async function outputOf(program: WorkflowHandle): Promise<string> {
  const { outcome } = (await program.result()) as {
    readonly outcome: { readonly status: string; readonly output: string }
  }
  if (outcome.status === 'ok') return outcome.output
  throw new Error(`a measured program failed: ${JSON.stringify(outcome)}`)
}
