import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { containerCount, killContainer } from '../../support/environment/containers.js'
import { expectReplays } from '../../support/environment/histories.js'
import { type LedgerEnvironment, startWithLedger } from '../../support/environment/ledger-environment.js'
import { scheduledCount } from '../../support/environment/waits.js'
import { pollSignal } from '../../support/poll-options.js'
import { answerResult, call, turn } from '../../support/script.js'

/** @param delayMs of the model between two uses of the environment */
function script(delayMs = 0) {
  const delayed = delayMs > 0 ? ([{ type: 'delay', attempt: 1, ms: delayMs }] as const) : []
  return [
    turn(
      call('execute_command', { command: 'echo one >>log; tool charge name=a >/dev/null' }),
      call('write_file', { path: 'app/f', content: 'x = 1\r\ny = 1\r\n' }),
    ),
    {
      ...turn(call('execute_command', { command: 'echo two >>log; tool charge name=b; echo three >>log' })),
      faults: delayed,
    },
    turn(call('edit_file', { path: 'app/f', old_text: 'y = 1\n', new_text: 'y = 2\n' })),
    turn(call('execute_command', { command: 'cat log; sha256sum app/f | cut -c1-8; ls -A' })),
    answerResult,
  ]
}

const start = (delayMs?: number) => startWithLedger(script(delayMs), { environment: { TEST_ENVIRONMENT: 'on' } })

/** Each effect is there once, and the files are those of a run without a fault. */
async function expectNothingLost({ env, ledger }: LedgerEnvironment, handle: WorkflowHandle): Promise<void> {
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({ status: 'answered', turns: 5, cells: 5, toolCalls: 2 })
  const digest = createHash('sha256').update('x = 1\r\ny = 2\r\n').digest('hex').slice(0, 8)
  expect(result.answer).toContain(`one\ntwo\nthree\n${digest}\napp\nlog\n[exit code 0, `)
  expect(ledger.appliedNames).toEqual(['a', 'b'])
  expect(await containerCount(handle)).toBe(0)
  await expectReplays(env.client, handle)
}

describeDocker('kill -9 of a run with an environment', () => {
  it('after kill -9 of worker and container between two uses, the files are rebuilt', async () => {
    const { env, ledger } = await start(60_000)
    const handle = await env.startAgent()
    await env.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, pollSignal())
    await env.workers.kill()
    await killContainer(handle)
    await env.workers.start()
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(2)
  })

  it('after kill -9 of the container during a command, the command continues from its call', async () => {
    const { env, ledger } = await start()
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    await killContainer(handle)
    ledger.releaseReplies('b')
    await expectNothingLost({ env, ledger }, handle)
  })

  it('after kill -9 of the worker during a command, another worker attaches', async () => {
    const { env, ledger } = await start()
    ledger.holdReplies('b')
    const handle = await env.startAgent()
    await ledger.waitForRequests('b')
    await env.workers.replace()
    await ledger.waitForRequests('b', 2)
    ledger.releaseReplies('b')
    await expectNothingLost({ env, ledger }, handle)
    expect(await scheduledCount(handle, 'session.open')).toBe(1)
  })
})
