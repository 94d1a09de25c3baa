import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { noModel } from '../../support/script.js'
import { PersistentDevServer, type KillableServer } from '../../support/temporal/killable-server.js'
import { PostgresTemporal, postgresTemporalBinaries } from '../../support/temporal/postgres-temporal.js'
import type { Killable } from '../../support/faults/restart-loop.js'

const startOf = `
async def once(name):
    try:
        return (await mark_once(name=name))["done"]
    except ToolOutcomeUnknown:
        return "unknown"
`

/** Kills the worker and all of these processes during a local call. The next attempt has only what the server stored. */
async function expectStored(server: KillableServer, victims: readonly Killable[]): Promise<void> {
  const { env, ledger } = await startWithLedger(noModel, { address: server.address })
  ledger.holdReplies('c')
  const program = `${startOf}
done = [(await mark(name="a"))["done"], await once("b"), await once("c"), (await mark(name="d"))["done"]]
print(",".join(done))`
  const handle = await env.startProgram(program)
  await ledger.waitForRequests('c')
  await Promise.all([...victims.map((victim) => victim.kill()), env.workers.kill()])
  ledger.releaseReplies('c')
  for (const victim of victims.toReversed()) await victim.startProcess()
  await env.workers.start()
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: 'a,b,unknown,d\n' })
  expect(ledger.requests.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd'])
  await env.expectCleanEnd(handle)
}

describeDocker('kill -9 of the Temporal server and the worker, during a local call with an effect', () => {
  it('F17: a server with a database file has the results that it has confirmed', async () => {
    const server = await PersistentDevServer.start()
    await expectStored(server, [server])
  })

  it('F17: while the server is away for ten seconds, no effect begins that it does not know, and all happen once', async () => {
    const server = await PersistentDevServer.start()
    const { env, ledger } = await startWithLedger(noModel, { address: server.address })
    const names = Array.from({ length: 40 }, (_, number) => `n${number}`)
    const handle = await env.startProgram(
      `${startOf}\nprint(",".join([await once(f"n{number}") for number in range(${names.length})]))`,
    )
    await ledger.waitForRequests('n10')
    await server.kill()
    const made = ledger.requests.length
    await delay(10_000)
    // The call in progress, and those that the server had confirmed before its end.
    expect(ledger.requests.length).toBeLessThanOrEqual(made + 2)
    await server.startProcess()
    const { outcome } = (await handle.result()) as ProgramResult
    const done = outcome.output.trim().split(',')
    const unknown = names.filter((_, index) => done[index] === 'unknown')
    expect(done).toEqual(names.map((name) => (unknown.includes(name) ? 'unknown' : name)))
    expect(unknown.length).toBeLessThanOrEqual(1)
    const requested = ledger.requests.map(({ name }) => name)
    expect(requested).toEqual(names.filter((name) => !unknown.includes(name) || requested.includes(name)))
    await env.expectCleanEnd(handle)
  })
})

const missing = (await postgresTemporalBinaries) === undefined ? ' (there is no Temporal server for PostgreSQL)' : ''
describe.skipIf(missing !== '')(`a Temporal server on PostgreSQL${missing}`, () => {
  describeDocker('kill -9 of both, and of the worker, during a local call with an effect', () => {
    it('F18: a server with PostgreSQL has the results that it has confirmed', async () => {
      const server = await PostgresTemporal.start()
      await expectStored(server, [server, server.database])
    })
  })
})
