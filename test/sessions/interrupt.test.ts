import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { exitCodeIn } from '../support/exit-code-in.js'
import { resultTexts } from '../support/histories.js'
import { patient } from '../support/patient.js'
import { aborted, Happening, tool } from '../support/tools.js'
import { SessionScene } from './session-scene.js'

const backends = inject('docker') === 'available' ? (['docker', 'wasm'] as const) : (['wasm'] as const)

/** A tool that says when it is called, and when it is cancelled. */
function world() {
  const called = new Happening()
  const cancelled = new Happening()
  const wait = tool('wait', async (_input, { signal }) => {
    called.happen()
    await aborted(signal)
    cancelled.happen()
    throw signal.reason
  })
  const begun = new Happening()
  const begin = tool('begin', () => begun.happen())
  return { begun, called, cancelled, tools: [begin, wait, tool('echo', ({ value }) => value)] }
}

/** It runs for ever once the first call is answered; `y` is 2 wherever it is interrupted. */
const endless = 'x += 1\ny = x\nawait begin()\nwhile True: y = 2'

describe.each(backends)('an interrupt, in %s', (backend) => {
  it('stops code that runs; the session keeps its variables', async () => {
    const { begun, tools } = world()
    const scene = await SessionScene.start({ backend, tools })
    await scene.printed('x = 1')
    const executing = scene.execute(endless)
    await begun.happened
    await scene.runsCode()
    await scene.stack.ptc.sessions.interrupt(scene.name)
    expect(await executing).toMatchObject({
      outcome: {
        status: 'stopped',
        error: expect.stringMatching(/Traceback[^]*line 4[^]*KeyboardInterrupt$/),
        sessionKept: true,
      },
      cell: 2,
    })
    expect(await scene.printed('print(x, y, await echo(value=3))')).toBe('2 2 3\n')
    await scene.close()
  })

  it('stops code that waits for a tool, and cancels the call', async () => {
    const { called, cancelled, tools } = world()
    const scene = await SessionScene.start({ backend, tools })
    const stop = new AbortController()
    const source = 'x = 1\ntry:\n  await wait()\nfinally:\n  x = 2\n  print("cleaned up")'
    const executing = scene.execute(source, { signal: stop.signal })
    await called.happened
    stop.abort()
    expect(await executing).toMatchObject({
      outcome: { status: 'stopped', output: 'cleaned up\n', sessionKept: true },
      toolCalls: 1,
    })
    await cancelled.happened
    expect(await scene.printed('print(x)')).toBe('2\n')
    await scene.close()
  })
})

describe('an interrupt', () => {
  it('can be caught, as in any Python', async () => {
    const { begun, tools } = world()
    const scene = await SessionScene.start({ tools })
    await scene.printed('x = 1')
    const executing = scene.execute(
      'try:\n  await begin()\n  while True: x += 1\nexcept KeyboardInterrupt:\n  print("caught", await echo(value=1))',
    )
    await begun.happened
    await scene.runsCode()
    await scene.stack.ptc.sessions.interrupt(scene.name)
    expect(await executing).toMatchObject({ outcome: { status: 'ok', output: 'caught 1\n' } })
    await scene.close()
  })

  it('happens again when the container is lost and the code is repeated', async () => {
    const { begun, tools } = world()
    const scene = await SessionScene.start({ tools })
    await scene.printed('x = 1\nprint(await echo(value=1))')
    const executing = scene.execute(`${endless}\nawait echo(value="never")`)
    await begun.happened
    await scene.runsCode()
    await scene.stack.ptc.sessions.interrupt(scene.name)
    await executing
    await scene.printed('z = await echo(value=3)')
    await scene.stack.killContainer(scene.run)
    expect(await scene.printed('print(x, y, z)')).toBe('2 2 3\n')
    await scene.close()
  })

  it('of one execution leaves the others alone, also when its turn has yet to come', async () => {
    const { called, tools } = world()
    const scene = await SessionScene.start({ tools })
    const stop = [new AbortController(), new AbortController()] as const
    const running = scene.execute('x = 1\nawait wait()', { signal: stop[0].signal })
    await called.happened
    const withdrawn = scene.execute('x = 2', { signal: stop[1].signal })
    await expect.poll(() => scene.accepted(), patient).toBe(2)
    const last = scene.execute('print(x)')
    await expect.poll(() => scene.accepted(), patient).toBe(3)
    stop[1].abort()
    await expect.poll(() => scene.signals(), patient).toBe(1)
    expect(await scene.stack.ptc.sessions.show(scene.name)).toMatchObject({ state: 'busy', cells: 1 })
    stop[0].abort()
    expect(await running).toMatchObject({ outcome: { status: 'stopped' } })
    expect(await withdrawn).toMatchObject({
      outcome: { status: 'stopped', error: expect.stringMatching(/before it had/) },
    })
    expect(await last).toMatchObject({ outcome: { status: 'ok', output: '1\n' } })
    await scene.close()
  })

  it('does nothing to a session that executes nothing, nor to what it executes next', async () => {
    const scene = await SessionScene.start()
    await expect(scene.stack.ptc.sessions.interrupt(scene.name)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await scene.printed('x = 1')
    await scene.stack.ptc.sessions.interrupt(scene.name)
    expect(await scene.printed('print(x)')).toBe('1\n')
    await scene.close()
  })

  it('that was meant before anything was sent executes nothing', async () => {
    const scene = await SessionScene.start()
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(scene.execute('x = 1', { signal })).rejects.toThrow('too late')
    await expect(scene.run.describe()).rejects.toThrow(/not found/)
  })
})

describeDocker('an interrupt', () => {
  it.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ])(
    'F34: happens again after as long, though the clock of the worker jumped an hour %s before it',
    async (_how, jump) => {
      const scene = await SessionScene.start()
      await scene.printed('x = 1')
      const begun = performance.now()
      const executing = scene.execute('x = 2\nopen("/tmp/runs", "w").close()\nwhile True: y = 2')
      const runs = async () => {
        const [container] = await scene.stack.containers(scene.run)
        return exitCodeIn(container?.Id ?? '', ['test', '-e', '/tmp/runs'])
      }
      await expect.poll(runs, patient).toBe(0)
      const now = Date.now
      vi.spyOn(Date, 'now').mockImplementation(() => now() + jump)
      onTestFinished(() => void vi.restoreAllMocks())
      await scene.stack.ptc.sessions.interrupt(scene.name)
      expect(await executing).toMatchObject({ outcome: { status: 'stopped' } })
      const afterMs = await recordedMs(scene)
      expect(afterMs).toBeGreaterThanOrEqual(0)
      expect(afterMs).toBeLessThanOrEqual(performance.now() - begun)
      await scene.stack.killContainer(scene.run)
      expect(await scene.printed('print(x, y)')).toBe('2 2\n')
      await scene.close()
    },
  )
})

/** After how long its code was interrupted, as a rebuild is told. */
async function recordedMs(scene: SessionScene): Promise<number> {
  const results = resultTexts(await scene.stack.history(scene.run))
  const told = results.map((text) => /"interruptedAfterMs":(-?[\d.]+)/.exec(text)?.[1])
  return Number(told.find((found) => found !== undefined))
}
