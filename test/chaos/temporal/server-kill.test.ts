import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { PersistentDevServer } from '../../support/temporal/killable-server.js'
import { noModel } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { containerCount } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'

describeDocker('kill -9 of the Temporal server', () => {
  it('F17: kill -9 of the Temporal server while a tool runs: the run continues when the server is back', async () => {
    const server = await PersistentDevServer.start()
    const { env, ledger } = await startWithLedger(noModel, { address: server.address })
    ledger.holdReplies('b')
    const handle = await env.startProgram('print([(await charge(name=n))["done"] for n in "abc"])')
    await ledger.waitForRequests('b')

    await server.kill()
    ledger.releaseReplies('b')
    await server.startProcess()

    const result = (await handle.result()) as ProgramResult
    expect(result).toMatchObject({ outcome: { status: 'ok', output: "['a', 'b', 'c']\n" }, toolCalls: 3 })
    expect(ledger.appliedNames).toEqual(['a', 'b', 'c'])
    expect(await containerCount(handle)).toBe(0)
    await expectReplays(env.client, handle)
  })
})
