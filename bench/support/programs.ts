import { randomUUID } from 'node:crypto'
import type { WorkflowHandle } from '@temporalio/client'
import type { Limits } from '../../dist/common/run/limits.js'
import type { Stack } from './stack.js'

/** Activities for `measureHistory` that leave out only opening and closing the session. */
export const sessionPart = ['session.open', 'session.close'] as const

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
