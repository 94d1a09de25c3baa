import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { execInContainer } from '../../../support/docker/exec-in-container.js'
import { backends } from '../../../support/environment/backends.js'
import { activityResultTexts } from '../../../support/environment/histories.js'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { Deferred, tool } from '../../../support/tools.js'
import { TestSession } from '../../../support/environment/test-session.js'

/** A tool that signals when it is called, and when it is cancelled. */
function signallingTools() {
  const called = new Deferred()
  const cancelled = new Deferred()
  const wait = tool('wait', async (_input, { signal }) => {
    called.resolve()
    await waitForAbort(signal)
    cancelled.resolve()
    throw signal.reason
  })
  const begun = new Deferred()
  const begin = tool('begin', () => begun.resolve())
  return { begun, called, cancelled, tools: [begin, wait, tool('echo', ({ value }) => value)] }
}

/** Loops without end after its first call has returned. `y` is 2 at every point of interruption. */
const endless = 'x += 1\ny = x\nawait begin()\nwhile True: y = 2'

describe.each(backends)('an interrupt, in %s', (backend) => {
  it('an interrupt stops running code, and the session keeps its variables', async () => {
    const { begun, tools } = signallingTools()
    const session = await TestSession.start({ backend, tools })
    await session.outputOf('x = 1')
    const executing = session.execute(endless)
    await begun.promise
    await session.waitForStep()
    await session.env.ptc.sessions.interrupt(session.name)
    expect(await executing).toMatchObject({
      outcome: {
        status: 'stopped',
        error: expect.stringMatching(/Traceback[^]*line 4[^]*KeyboardInterrupt$/),
        sessionKept: true,
      },
      cell: 2,
    })
    expect(await session.outputOf('print(x, y, await echo(value=3))')).toBe('2 2 3\n')
    await session.close()
  })

  it('an interrupt stops the code of a follow-up step at once, and the session keeps its variables', async () => {
    const { begun, tools } = signallingTools()
    const session = await TestSession.start({ backend, tools, limits: { cellSeconds: 600 } })
    await session.outputOf('x = 1')
    const executing = session.execute(endless)
    await begun.promise
    await session.env.ptc.sessions.interrupt(session.name)
    expect(await executing).toMatchObject({ outcome: { status: 'stopped', sessionKept: true }, cell: 2 })
    expect(await session.outputOf('print(x, y)')).toBe('2 2\n')
    await session.close()
  })

  it('an interrupt stops code that waits for a tool, and cancels the call', async () => {
    const { called, cancelled, tools } = signallingTools()
    const session = await TestSession.start({ backend, tools })
    const stop = new AbortController()
    const source = 'x = 1\ntry:\n  await wait()\nfinally:\n  x = 2\n  print("cleaned up")'
    const executing = session.execute(source, { signal: stop.signal })
    await called.promise
    stop.abort()
    expect(await executing).toMatchObject({
      outcome: { status: 'stopped', output: 'cleaned up\n', sessionKept: true },
      toolCalls: 1,
    })
    await cancelled.promise
    expect(await session.outputOf('print(x)')).toBe('2\n')
    await session.close()
  })
})

describe('an interrupt', () => {
  it('an interrupt can be caught as KeyboardInterrupt', async () => {
    const { begun, tools } = signallingTools()
    const session = await TestSession.start({ tools })
    await session.outputOf('x = 1')
    const executing = session.execute(
      'try:\n  await begin()\n  while True: x += 1\nexcept KeyboardInterrupt:\n  print("caught", await echo(value=1))',
    )
    await begun.promise
    await session.waitForStep()
    await session.env.ptc.sessions.interrupt(session.name)
    expect(await executing).toMatchObject({ outcome: { status: 'ok', output: 'caught 1\n' } })
    await session.close()
  })

  it('an interrupt is repeated when the session is rebuilt', async () => {
    const { begun, tools } = signallingTools()
    const session = await TestSession.start({ tools })
    await session.outputOf('x = 1\nprint(await echo(value=1))')
    const executing = session.execute(`${endless}\nawait echo(value="never")`)
    await begun.promise
    await session.waitForStep()
    await session.env.ptc.sessions.interrupt(session.name)
    await executing
    await session.outputOf('z = await echo(value=3)')
    await session.env.killContainers(session.handle)
    expect(await session.outputOf('print(x, y, z)')).toBe('2 2 3\n')
    await session.close()
  })

  it('an interrupt of one execution does not affect the others, also when it is still queued', async () => {
    const { called, tools } = signallingTools()
    const session = await TestSession.start({ tools })
    const stop = [new AbortController(), new AbortController()] as const
    const running = session.execute('x = 1\nawait wait()', { signal: stop[0].signal })
    await called.promise
    const withdrawn = session.execute('x = 2', { signal: stop[1].signal })
    await expect.poll(() => session.acceptedUpdateCount()).toBe(2)
    const last = session.execute('print(x)')
    await expect.poll(() => session.acceptedUpdateCount()).toBe(3)
    stop[1].abort()
    await expect.poll(() => session.signalCount()).toBe(1)
    expect(await session.env.ptc.sessions.show(session.name)).toMatchObject({ state: 'busy', cells: 1 })
    stop[0].abort()
    expect(await running).toMatchObject({ outcome: { status: 'stopped' } })
    expect(await withdrawn).toMatchObject({
      outcome: { status: 'stopped', error: expect.stringMatching(/before it started/) },
    })
    expect(await last).toMatchObject({ outcome: { status: 'ok', output: '1\n' } })
    await session.close()
  })

  it('an interrupt has no effect on an idle session, nor on its next execution', async () => {
    const session = await TestSession.start()
    await expect(session.env.ptc.sessions.interrupt(session.name)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await session.outputOf('x = 1')
    await session.env.ptc.sessions.interrupt(session.name)
    expect(await session.outputOf('print(x)')).toBe('1\n')
    await session.close()
  })

  it('an interrupt before the execution was sent prevents it', async () => {
    const session = await TestSession.start()
    const signal = AbortSignal.abort(new Error('too late'))
    await expect(session.execute('x = 1', { signal })).rejects.toThrow('too late')
    await expect(session.handle.describe()).rejects.toThrow(/not found/)
  })
})

describeDocker('an interrupt', () => {
  it.each([
    ['ahead', 3_600_000],
    ['back', -3_600_000],
  ])(
    'F34: an interrupt is repeated after the same time, although the clock jumped an hour %s before it',
    async (_how, jump) => {
      const session = await TestSession.start()
      await session.outputOf('x = 1')
      const begun = performance.now()
      const executing = session.execute('x = 2\nopen("/tmp/runs", "w").close()\nwhile True: y = 2')
      const runs = async () => {
        const [container] = await session.env.containers(session.handle)
        return execInContainer(container?.Id ?? '', ['test', '-e', '/tmp/runs'])
      }
      await expect.poll(runs).toBe(0)
      const now = Date.now
      vi.spyOn(Date, 'now').mockImplementation(() => now() + jump)
      onTestFinished(() => void vi.restoreAllMocks())
      await session.env.ptc.sessions.interrupt(session.name)
      expect(await executing).toMatchObject({ outcome: { status: 'stopped' } })
      const afterMs = await recordedInterruptMs(session)
      expect(afterMs).toBeGreaterThanOrEqual(0)
      expect(afterMs).toBeLessThanOrEqual(performance.now() - begun)
      await session.env.killContainers(session.handle)
      expect(await session.outputOf('print(x, y)')).toBe('2 2\n')
      await session.close()
    },
  )
})

/** Milliseconds after which the code was interrupted, in the form in which a rebuild gets them. */
async function recordedInterruptMs(session: TestSession): Promise<number> {
  const results = activityResultTexts(await session.env.history(session.handle))
  const durations = results.map((text) => /"interruptedAfterMs":(-?[\d.]+)/.exec(text)?.[1])
  return Number(durations.find((found) => found !== undefined))
}
