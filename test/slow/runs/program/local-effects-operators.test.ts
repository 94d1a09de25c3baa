import { describe, expect, it } from 'vitest'
import type { ProgramResult } from '../../../../src/common/run/runs.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { inMode } from '../../../support/mode.js'
import { ActivityCommands } from '../../../support/temporal/activity-commands.js'
import { Deferred, tool } from '../../../support/tools.js'

const local = { execution: 'local', effect: 'idempotent' } as const
const once = { execution: 'local', effect: 'once' } as const
const step = 'session.step'

const source = `
async def attempt(call):
    try:
        return await call
    except ToolOutcomeUnknown:
        return "unknown"
print(await mark(name="a"), await attempt(hold()), await mark(name="b"))`

/** Starts a program whose second call, a `once` call, is in progress until the test releases it. */
async function startHolding(heartbeat: '3s' | '1m' = '3s') {
  const called = [new Deferred(), new Deferred()]
  const stopped = new Deferred()
  const released = new Deferred<string>()
  const made: unknown[] = []
  const keys = new Map<unknown, Set<string>>()
  const mark = tool(
    'mark',
    ({ name }, { idempotencyKey }) => {
      made.push(name)
      keys.set(name, (keys.get(name) ?? new Set()).add(idempotencyKey))
      return name
    },
    local,
  )
  const hold = tool(
    'hold',
    async (_input, { signal }) => {
      made.push('hold')
      called[made.filter((name) => name === 'hold').length - 1]?.resolve()
      void waitForAbort(signal).then(() => stopped.resolve())
      return released.promise
    },
    once,
  )
  const env = await TestEnvironment.start({ tools: [mark, hold], timeouts: { heartbeat } })
  const handle = await env.startProgram(source)
  await called[0]?.promise
  const commands = new ActivityCommands({ client: env.client, handle })
  return { env, handle, commands, called, stopped, released, made, keys }
}

async function outputOf(env: TestEnvironment): Promise<string> {
  const again = env.client.workflow.getHandle(env.lastRun.workflowId)
  const { outcome } = (await again.result()) as ProgramResult
  await env.expectCleanEnd(again)
  return outcome.output
}

/** In these modes no worker is connected to the sandbox when a call ends. */
const losesConnections = inMode('always-evict') || inMode('always-reattach')

describe.skipIf(losesConnections)('an operator, while a local call with an effect is in progress', () => {
  it.each([
    ['pause', (commands: ActivityCommands) => commands.pause(step)],
    ['reset', (commands: ActivityCommands) => commands.reset(step, { resetHeartbeat: false })],
    ['reset with heartbeats', (commands: ActivityCommands) => commands.reset(step, { resetHeartbeat: true })],
  ])('a `once` call is told to stop and has an unknown outcome, and the run continues: %s', async (_name, command) => {
    const { env, commands, stopped, made } = await startHolding()
    await command(commands)
    await stopped.promise
    expect(await outputOf(env)).toBe('a unknown b\n')
    expect(made).toEqual(['a', 'hold', 'b'])
  })
})

describe.skipIf(losesConnections)('an operator, after the worker was lost during a local call with an effect', () => {
  // With this heartbeat timeout, the attempt does not learn that it is paused before it is lost.
  it.each([
    ['unpause', (commands: ActivityCommands) => commands.unpause(step)],
    ['unpause with attempts', (commands: ActivityCommands) => commands.unpause(step, { resetAttempts: true })],
    ['reset', (commands: ActivityCommands) => commands.reset(step, { resetHeartbeat: false })],
  ])('no call is made again: %s', async (_name, command) => {
    const { env, commands, released, made } = await startHolding('1m')
    await commands.pause(step)
    await commands.loseAttempts()
    await command(commands)
    expect(await outputOf(env)).toBe('a unknown b\n')
    released.resolve('late')
    expect(made).toEqual(['a', 'hold', 'b'])
  })

  it.each([
    ['unpause', (commands: ActivityCommands) => commands.unpause(step, { resetHeartbeat: true })],
    ['reset', (commands: ActivityCommands) => commands.reset(step, { resetHeartbeat: true })],
  ])('with heartbeats, calls are made again, with the same keys: %s', async (_name, command) => {
    const { env, commands, called, released, made, keys } = await startHolding('1m')
    await commands.pause(step)
    await commands.loseAttempts()
    await command(commands)
    await called[1]?.promise
    released.resolve('held')
    expect(await outputOf(env)).toBe('a held b\n')
    expect(made).toEqual(['a', 'hold', 'a', 'hold', 'b'])
    expect(keys.get('a')?.size).toBe(1)
  })
})

it.skipIf(losesConnections)(
  'a reset of the run makes the local call again, and the run before begins no further one',
  async () => {
    const { env, handle, called, released, made, keys } = await startHolding()
    await resetToCall(env, handle, step)
    await called[1]?.promise
    released.resolve('held')
    expect(await outputOf(env)).toBe('a held b\n')
    expect(made).toEqual(['a', 'hold', 'a', 'hold', 'b'])
    expect(keys.get('a')?.size).toBe(1)
  },
)
