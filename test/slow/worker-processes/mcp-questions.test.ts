import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestProject } from '../../support/cli/ptc.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { noModel } from '../../support/script.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const config = fileURLToPath(new URL('../../fixtures/mcp/asking.config.ts', import.meta.url))

it('a question of an MCP server outlives its worker, and the command line answers it', async () => {
  const folder = await temporaryFolder()
  const ledger = join(folder, 'calls.jsonl')
  const env = await TestEnvironment.startProcesses({
    script: noModel,
    config,
    environment: { TEST_LEDGER: ledger, TEST_VALUES: join(folder, 'values') },
  })
  const handle = await env.startProgram('print(await asking__ask(id="order"))')
  const tokenOf = async (message: string) => {
    const find = async () =>
      (await env.ptc.waits({ run: handle.workflowId })).flatMap(({ wait }) =>
        wait.type === 'answer' && wait.question?.message === message ? [wait.token] : [],
      )
    await expect.poll(async () => (await find().catch(() => [])).length).toBe(1)
    const [token = ''] = await find()
    return token
  }
  const token = await tokenOf('Which color?')
  await env.workers.kill()
  await env.workers.start()
  const { address, namespace } = sharedServer()
  await using project = await TestProject.create({}, { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  const unfit = await project.run('answer', token, 'green')
  expect(unfit.stderr).toContain('the answer does not fit the question')
  const answered = await project.run('answer', token, 'blue')
  expect(answered.stderr).toBe('the question is answered\n')
  const second = await tokenOf('Which size?')
  await env.workers.kill()
  await env.workers.start()
  expect((await project.run('answer', second, '--cancel', 'x')).stderr).toContain('a call needs exactly one answer')
  expect((await project.run('answer', second, '--result', '{"size": 4}')).stderr).toBe('the call is completed\n')
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: 'ordered blue in size 4\n' })
  const lines = readFileSync(ledger, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"order"'))
  expect(lines.filter((line) => line.includes('"effect"'))).toHaveLength(1)
  await env.expectCleanEnd(handle)
})
