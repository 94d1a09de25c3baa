import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import type { WorkerProcess } from '../../support/environment/worker-process.js'
import { pollOptions } from '../../support/poll-options.js'
import { noModel } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/fatal-tools.config.ts', import.meta.url))

const tools = { roles: ['tools'] } as const

it.each(['abort', 'exit'])(
  'F39: a call that ends its worker (%s) leaves time for other calls on a fleet of three',
  async (how) => {
    // The embedded sandboxes end with their worker.
    const initialWorkers = [{ roles: ['workflow', 'sandbox'] }, tools, tools, tools] as const
    const env = await TestEnvironment.startProcesses({ script: noModel, config, initialWorkers })
    const deaths: number[] = []
    let isSupervised = true
    const starting: Promise<WorkerProcess>[] = []
    onTestFinished(async () => {
      isSupervised = false
      await Promise.all(starting)
    })
    const supervise = async (worker: WorkerProcess): Promise<void> => {
      await worker.waitForExit()
      if (!isSupervised) return
      deaths.push(performance.now())
      const next = env.workers.start(tools)
      starting.push(next)
      await supervise(await next)
    }
    for (const worker of env.workers.all.slice(1)) void supervise(worker)
    const others = await Promise.all([1, 2, 3].map(() => env.startProgram('print(await wait(seconds=5))')))
    await env.startProgram(`print(await end(how="${how}"))`)
    for (const other of others) {
      expect(await other.result()).toMatchObject({ outcome: { status: 'ok', output: 'done\n' } })
    }
    await vi.waitUntil(() => deaths.length > 2, pollOptions)
    const [first = 0, second = 0, third = 0] = deaths
    // Another worker takes the call over once.
    expect(second - first).toBeLessThan(10_000)
    expect(third - second).toBeGreaterThan(9_000)
    expect(env.workers.log).toMatch(/WARN .*(activity end was in progress when|the next one waits)/)
    isSupervised = false
    if (how === 'exit') {
      expect(env.workers.log).toContain('durable-ptc: tool end has called process.exit, which ends the worker')
      expect(env.workers.all.map(({ exitCode }) => exitCode)).toContain(1)
    }
  },
)

it('a worker with an error that belongs to no call finishes the other calls, and ends', async () => {
  const env = await TestEnvironment.startProcesses({ script: noModel, config })
  const { first } = env.workers
  const other = await env.startProgram('print(await wait(seconds=4))')
  await first.waitForOutput(/^waiting$/m)
  const fatal = await env.startProgram('print(await end(how="listener"))')
  expect(await first.waitForExit()).toBe(1)
  expect(first.log).toContain('an error that nothing caught: the listener broke')
  expect(first.log).toMatch(/ERROR an error that nothing caught[^]*fatal-tools\.config\.ts/)
  expect(first.log.trimEnd().split('\n').at(-1)).toContain('the listener broke')
  await env.workers.start()
  expect(await other.result()).toMatchObject({ outcome: { status: 'ok', output: 'done\n' } })
  expect(await fatal.result()).toMatchObject({ outcome: { status: 'ok', output: 'called\n' } })
  expect(env.workers.log.match(/^waiting$/gm)).toHaveLength(1)
})
