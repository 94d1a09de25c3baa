import { expect, it } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { Deferred, tool } from '../../../support/tools.js'
import { TestSession } from '../../../support/environment/test-session.js'

const idle = '4s'

describeDocker('an idle session', () => {
  it('an idle session ends, removes its container, and the next execution reports the expiry', async () => {
    const session = await TestSession.start({ sessions: { idle } })
    await session.outputOf('x = 1')
    expect(await session.env.containers(session.handle)).toHaveLength(1)
    expect(await session.handle.result()).toEqual({ ended: 'idle', cells: 1, toolCalls: 0 })
    await session.env.expectCleanEnd(session.handle)
    const gone = { code: 'SESSION_EXPIRED', message: `session ${session.name} has expired; its variables are gone` }
    await expect(session.execute('print(x)', { mustExist: true })).rejects.toMatchObject(gone)
    await expect(session.env.ptc.sessions.show(session.name)).rejects.toMatchObject(gone)
    expect(await session.execute('print("x" in globals())')).toMatchObject({
      outcome: { output: 'False\n' },
      cell: 1,
      isNew: true,
      previous: 'idle',
    })
    await session.close()
  })

  it('an idle session ends although no worker ran at its expiry', async () => {
    const session = await TestSession.start({ sessions: { idle } })
    await session.outputOf('x = 1')
    await session.env.workers.stop()
    await expect
      .poll(async () =>
        (await session.env.history(session.handle)).events.some(({ timerFiredEventAttributes: fired }) => fired),
      )
      .toBe(true)
    expect(await session.env.containers(session.handle)).toHaveLength(1)
    await session.env.workers.start()
    expect(await session.handle.result()).toMatchObject({ ended: 'idle' })
    await session.env.expectCleanEnd(session.handle)
  })

  it('a session does not expire during an execution; the time starts again at its end', async () => {
    const begun = new Deferred()
    const released = new Deferred<null>()
    const hold = tool('hold', () => {
      begun.resolve()
      return released.promise
    })
    const session = await TestSession.start({ tools: [hold], sessions: { idle } })
    const executing = session.execute('import time\nx = 1\nawait hold()\ntime.sleep(5)\nprint("whole")')
    await begun.promise
    released.resolve(null)
    expect(await executing).toMatchObject({ outcome: { status: 'ok', output: 'whole\n' } })
    expect(await session.execute('print(x)')).toMatchObject({ outcome: { output: '1\n' }, isNew: false })
    expect(await session.handle.result()).toMatchObject({ ended: 'idle', cells: 2 })
    await session.env.expectCleanEnd(session.handle)
  })
})

it('a request for a session that never existed reports that', async () => {
  const session = await TestSession.start()
  await expect(session.execute('print(1)', { mustExist: true })).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    message: `there is no session ${session.name}`,
  })
  await expect(session.env.ptc.sessions.close(session.name)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})
