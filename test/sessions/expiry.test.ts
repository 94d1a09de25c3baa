import { expect, it } from 'vitest'
import { describeDocker } from '../support/docker.js'
import { Happening, tool } from '../support/tools.js'
import { SessionScene } from './session-scene.js'

const idle = '4s'

describeDocker('a session on which nothing is executed', () => {
  it('ends, gives its container back, and the next execution is told', async () => {
    const scene = await SessionScene.start({ sessions: { idle } })
    await scene.printed('x = 1')
    expect(await scene.stack.containers(scene.run)).toHaveLength(1)
    expect(await scene.run.result()).toEqual({ ended: 'idle', cells: 1, toolCalls: 0 })
    await scene.stack.leftClean(scene.run)
    const gone = { code: 'SESSION_EXPIRED', message: `session ${scene.name} has expired; its variables are gone` }
    await expect(scene.execute('print(x)', { mustExist: true })).rejects.toMatchObject(gone)
    await expect(scene.stack.ptc.sessions.show(scene.name)).rejects.toMatchObject(gone)
    expect(await scene.execute('print("x" in globals())')).toMatchObject({
      outcome: { output: 'False\n' },
      cell: 1,
      isNew: true,
      previous: 'idle',
    })
    await scene.close()
  })

  it('ends on time although no worker was there when its time was over', async () => {
    const scene = await SessionScene.start({ sessions: { idle } })
    await scene.printed('x = 1')
    await scene.stack.stopWorker()
    await expect
      .poll(async () =>
        (await scene.stack.history(scene.run)).events.some(({ timerFiredEventAttributes: fired }) => fired),
      )
      .toBe(true)
    expect(await scene.stack.containers(scene.run)).toHaveLength(1)
    await scene.stack.startWorker()
    expect(await scene.run.result()).toMatchObject({ ended: 'idle' })
    await scene.stack.leftClean(scene.run)
  })

  it('is not cut while it executes something, however long, and counts anew from its end', async () => {
    const begun = new Happening()
    const released = new Happening<null>()
    const hold = tool('hold', () => {
      begun.happen()
      return released.happened
    })
    const scene = await SessionScene.start({ tools: [hold], sessions: { idle } })
    const executing = scene.execute('import time\nx = 1\nawait hold()\ntime.sleep(5)\nprint("whole")')
    await begun.happened
    released.happen(null)
    expect(await executing).toMatchObject({ outcome: { status: 'ok', output: 'whole\n' } })
    expect(await scene.execute('print(x)')).toMatchObject({ outcome: { output: '1\n' }, isNew: false })
    expect(await scene.run.result()).toMatchObject({ ended: 'idle', cells: 2 })
    await scene.stack.leftClean(scene.run)
  })
})

it('what must find a session that never was is told so', async () => {
  const scene = await SessionScene.start()
  await expect(scene.execute('print(1)', { mustExist: true })).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
    message: `there is no session ${scene.name}`,
  })
  await expect(scene.stack.ptc.sessions.close(scene.name)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
})
