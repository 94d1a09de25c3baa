import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { describe, expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { budgetOverruns } from '../../../examples/team-expenses/expected-answer.js'
import { execInContainer } from '../../support/docker/exec-in-container.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import {
  containerCount,
  killContainer,
  releaseCode,
  runningContainersOf,
} from '../../support/environment/containers.js'
import { expectReplays } from '../../support/environment/histories.js'
import { type ProcessEnvironment, TestEnvironment } from '../../support/environment/test-environment.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { busyExpenseProgram, expensePrograms } from '../../support/expense-programs.js'
import { parseExpenseTable } from '../../support/expense-table.js'
import { noModel } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/team-expenses.config.ts', import.meta.url))

/** What dies while code runs, and the number of sandboxes that the run has in all. */
const kills: Readonly<Record<string, readonly [kill: Kill, sandboxes: number]>> = {
  'the worker': [async (env) => void (await env.workers.replace()), 1],
  'the container': [(_env, handle) => killContainer(handle), 2],
}

type Kill = (env: ProcessEnvironment, handle: WorkflowHandle) => Promise<void>

describeDocker('the team-expense question', () => {
  describe.each(expensePrograms)('in $language', (program) => {
    it.each(Object.entries(kills))('survives kill -9 of %s in the middle of its cell', async (_, [kill, sandboxes]) => {
      const env = await TestEnvironment.startProcesses({ script: noModel, config })
      const handle = await env.startProgram(await busyExpenseProgram(program), { language: program.language })
      await expect.poll(() => isBusy(handle)).toBe(true)
      await kill(env, handle)
      await releaseCode(handle)
      const { outcome } = (await handle.result()) as ProgramResult
      expect(parseExpenseTable(outcome.output)).toEqual(budgetOverruns('engineering', 'Q3'))
      expect(await scheduledCount(handle, 'session.open')).toBe(sandboxes)
      expect(await scheduledCount(handle, 'get_expenses')).toBe(8)
      expect(await containerCount(handle)).toBe(0)
      await expectReplays(env.client, handle)
    })
  })
})

/** Whether the code of the run has come to its loop. */
async function isBusy({ workflowId }: WorkflowHandle): Promise<boolean> {
  const [container] = await runningContainersOf(workflowId)
  return container !== undefined && (await execInContainer(container.Id, ['test', '-e', '/tmp/busy'])) === 0
}
