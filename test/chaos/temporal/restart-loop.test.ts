import { describe, expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { PersistentDevServer, type KillableServer } from '../../support/temporal/killable-server.js'
import { postgresTemporalBinaries, PostgresTemporal } from '../../support/temporal/postgres-temporal.js'
import { faultSchedule, type Killable, restartLoop } from '../../support/faults/restart-loop.js'
import { answerResult, code, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { containerCount } from '../../support/environment/containers.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'

const chaosMs = Number(process.env['PTC_CHAOS_MINUTES'] ?? 1) * 60_000
const seed = Number(process.env['PTC_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const settleMs = 10 * 60_000
const programs = 14
const agents = 6
/** Rounds of a program. Each takes at least three seconds, so that the program lasts as long as the faults. */
const rounds = Math.ceil(chaosMs / 5_000)

const program = (number: number): string => `
import asyncio
done = []
for round in range(${rounds}):
    done.append((await charge(name=f"program-${number}-{round}"))["done"])
    done += [d["done"] for d in await asyncio.gather(*[charge(name=f"program-${number}-{round}-{n}") for n in range(2)])]
    await asyncio.sleep(3)
print(len(done), len(set(done)))
`

/** A cell of all agents. Names of its effects are the same for all agents, but their keys differ. */
const cell = (number: number): string => `
import asyncio
for round in range(${Math.ceil(rounds / 3)}):
    done = (await charge(name=f"agent-${number}-{round}"))["done"]
    await asyncio.sleep(3)
print(done)
`
const script = [turn(code(cell(1))), turn(code(cell(2))), answerResult]
const agentAnswer = `agent-2-${Math.ceil(rounds / 3) - 1}`

/** All expected effects, sorted. */
function expectedEffects(): string[] {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number)
  const ofPrograms = numbers(programs).flatMap((run) =>
    numbers(rounds).flatMap((round) => ['', '-0', '-1'].map((call) => `program-${run}-${round}${call}`)),
  )
  const ofAgents = numbers(agents).flatMap(() =>
    [1, 2].flatMap((turnNumber) => numbers(Math.ceil(rounds / 3)).map((round) => `agent-${turnNumber}-${round}`)),
  )
  return [...ofPrograms, ...ofAgents].toSorted()
}

async function expectAllFinish(server: KillableServer, victims: Readonly<Record<string, Killable>>): Promise<void> {
  const { env, ledger } = await startWithLedger(script, { address: server.address })
  const started = [
    ...Array.from({ length: programs }, (_, number) => env.startProgram(program(number))),
    ...Array.from({ length: agents }, () => env.startAgent()),
  ]
  const handles = await Promise.all(started)
  const schedule = faultSchedule(Object.keys(victims), seed)
  const kills = await restartLoop({ victims, schedule, signal: AbortSignal.timeout(chaosMs), kills: 3 })
  const results = await Promise.all(handles.map((handle) => env.ptc.handle(handle.workflowId).result()))
  const { applied, requests } = ledger
  console.error(
    `› F18: seed ${seed}, killed ${JSON.stringify(kills)}, ${handles.length} runs, ` +
      `${applied.length} effects asked for ${requests.length} times`,
  )
  for (const count of Object.values(kills)) expect(count).toBeGreaterThanOrEqual(3)
  const output = `${3 * rounds} ${3 * rounds}\n`
  const [ofPrograms, ofAgents] = [results.slice(0, programs), results.slice(programs)]
  for (const result of ofPrograms as ProgramResult[]) expect(result.outcome).toMatchObject({ status: 'ok', output })
  for (const result of ofAgents) expect(result).toMatchObject({ status: 'answered', answer: agentAnswer, turns: 3 })
  expect(ledger.appliedNames).toEqual(expectedEffects())
  for (const handle of handles) {
    expect(await containerCount(handle)).toBe(0)
    await expectReplays(env.client, handle)
  }
}

describeDocker('a Temporal server that is killed every 5 to 10 seconds', () => {
  it(
    'F18: a server with a database file that is killed repeatedly completes runs, with effects once',
    async () => {
      const server = await PersistentDevServer.start()
      await expectAllFinish(server, { server })
    },
    chaosMs + settleMs,
  )
})

const missing = (await postgresTemporalBinaries) === undefined ? ' (there is no Temporal server for PostgreSQL)' : ''
describe.skipIf(missing !== '')(`a Temporal server on PostgreSQL, both killed repeatedly${missing}`, () => {
  describeDocker('in turn', () => {
    it(
      'F18: a server with PostgreSQL that is killed repeatedly completes runs, with effects once',
      async () => {
        const server = await PostgresTemporal.start()
        await expectAllFinish(server, { server, database: server.database })
      },
      chaosMs + settleMs,
    )
  })
})
