import { describe, expect, it } from 'vitest'
import { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'
import { SessionScene } from './session-scene.js'

const echo = tool('echo', ({ value }) => value)

describe('a session', () => {
  it('keeps its variables from one execution to the next, and says that it is new only once', async () => {
    const scene = await SessionScene.start({ tools: [echo] })
    expect(await scene.execute('x = await echo(value=41)')).toMatchObject({
      session: scene.name,
      outcome: { status: 'ok', output: '' },
      cell: 1,
      toolCalls: 1,
      isNew: true,
      previous: undefined,
    })
    expect(await scene.execute('x += 1\nprint(x)')).toMatchObject({
      outcome: { status: 'ok', output: '42\n' },
      cell: 2,
      toolCalls: 0,
      isNew: false,
    })
    expect(await scene.execute('print(x, no)')).toMatchObject({ outcome: { status: 'code_error' }, isNew: false })
    expect(await scene.printed('print(x)')).toBe('42\n')
    await scene.close()
  })

  it('does not see the variables of another', async () => {
    const one = await SessionScene.start()
    const other = SessionScene.in(one.stack)
    await Promise.all([one.printed('mine = 1'), other.printed('theirs = 2')])
    expect(await one.printed('print("theirs" in globals(), mine)')).toBe('False 1\n')
    expect(await other.printed('print("mine" in globals(), theirs)')).toBe('False 2\n')
    await Promise.all([one.close(), other.close()])
  })

  it('is not that of another task queue with the same name: neither its variables, nor its tools, nor its end', async () => {
    const one = await SessionScene.start({ tools: [echo] })
    const other = SessionScene.in(await Stack.start(), one.name)
    await one.printed('mine = await echo(value=1)')
    await expect(other.execute('mine', { mustExist: true })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(await other.execute('print("mine" in globals(), "echo" in globals())')).toMatchObject({
      session: one.name,
      outcome: { status: 'ok', output: 'False False\n' },
      isNew: true,
    })
    for (const { stack, run } of [one, other]) {
      expect(await stack.ptc.sessions.show(one.name)).toMatchObject({ name: one.name, workflowId: run.workflowId })
    }
    await other.close()
    expect(await one.printed('print(mine)')).toBe('1\n')
    await one.close()
  })

  it('executes what comes at the same time one after the other, and loses none', async () => {
    const scene = await SessionScene.start({ tools: [echo] })
    // More than the ten updates that Temporal lets wait at the same time.
    const numbers = Array.from({ length: 14 }, (_, index) => index + 1)
    const code = (n: number) =>
      `order = globals().get("order", [])\norder.append(${n})\nawait echo(value=1)\norder.append(${n})\nprint(order)`
    const executed = await Promise.all(numbers.map((n) => scene.execute(code(n))))
    expect(executed.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(executed.map(({ cell }) => cell).toSorted((a, b) => a - b)).toEqual(numbers)
    const last = executed.find(({ cell }) => cell === numbers.length)
    const order = JSON.parse(last?.outcome.output ?? '') as number[]
    expect(order).toHaveLength(2 * numbers.length)
    for (let place = 0; place < order.length; place += 2) expect(order[place]).toBe(order[place + 1])
    await scene.close()
  })

  it('is listed and shown while it is there, and only then', async () => {
    const released = new Happening<null>()
    const begun = new Happening()
    const hold = tool('hold', () => {
      begun.happen()
      return released.happened
    })
    const scene = await SessionScene.start({ tools: [hold], sessions: { idle: '10m' } })
    const { sessions } = scene.stack.ptc
    await expect(sessions.show(scene.name)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    const executing = scene.execute('await hold()')
    await begun.happened
    expect(await sessions.show(scene.name)).toMatchObject({
      state: 'busy',
      expiresAt: undefined,
      cells: 1,
      toolCalls: 1,
    })
    released.happen(null)
    await executing
    const info = await sessions.show(scene.name)
    expect(info).toMatchObject({ name: scene.name, state: 'idle', cells: 1, toolCalls: 1 })
    expect(info.lastUsedAt.getTime()).toBeGreaterThanOrEqual(info.createdAt.getTime())
    expect(Number(info.expiresAt) - info.lastUsedAt.getTime()).toBe(600_000)
    await expect.poll(() => sessions.list()).toEqual([info])
    await scene.close()
    await expect(sessions.show(scene.name)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await expect.poll(() => sessions.list()).toEqual([])
  })

  it('refuses what is no program, another backend, and a name that is none', async () => {
    const scene = await SessionScene.start({ backend: 'wasm' })
    const refused = { code: 'RUN_INPUT_INVALID' }
    await expect(scene.execute(' \n')).rejects.toMatchObject(refused)
    await expect(scene.execute('#'.repeat(1_500_001))).rejects.toMatchObject(refused)
    await expect(scene.stack.ptc.sessions.execute('no name', 'x = 1')).rejects.toMatchObject(refused)
    await expect(scene.run.describe()).rejects.toThrow(/not found/)
    await scene.printed('x = 1')
    await expect(scene.execute('x', { sandbox: 'docker' })).rejects.toMatchObject({
      ...refused,
      message: `session ${scene.name} runs in wasm, not in docker`,
    })
    // Past the client's own checks.
    const bare = scene.run.executeUpdate('execute', { args: [{ source: '' }] })
    await expect(bare).rejects.toMatchObject({ cause: { type: 'RUN_INPUT_INVALID' } })
    expect(await scene.execute('print(x)', { sandbox: 'wasm' })).toMatchObject({ cell: 2 })
    await scene.close()
  })

  it('that is full says so, and keeps what it has', async () => {
    const scene = await SessionScene.start({ sessions: { executions: 2 } })
    await scene.printed('x = 1')
    await scene.printed('x = 2')
    await expect(scene.execute('print(x)')).rejects.toMatchObject({
      code: 'SESSION_FULL',
      message: `session ${scene.name} has had 2 executions, all it takes`,
    })
    expect(await scene.stack.ptc.sessions.show(scene.name)).toMatchObject({ state: 'idle', cells: 2 })
    await scene.close()
  })
})

describe('closing', () => {
  it('stops what is executed and what waits, and says so to both', async () => {
    const begun = new Happening()
    const never = tool('never', (_input, { signal }) => {
      begun.happen()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const scene = await SessionScene.start({ tools: [never] })
    const closed = { code: 'SESSION_CLOSED' }
    const running = expect(scene.execute('await never()')).rejects.toMatchObject(closed)
    await begun.happened
    const waiting = expect(scene.execute('print(1)')).rejects.toMatchObject(closed)
    await expect.poll(async () => (await scene.stack.history(scene.run)).events.filter(isAccepted).length).toBe(2)
    expect(await scene.stack.ptc.sessions.close(scene.name)).toEqual({ ended: 'closed', cells: 1, toolCalls: 1 })
    await Promise.all([running, waiting])
    await scene.stack.leftClean(scene.run)
    await expect(scene.stack.ptc.sessions.close(scene.name)).rejects.toMatchObject(closed)
  })

  it('takes a moment; what comes meanwhile begins the next session, and is told so', async () => {
    const scene = await SessionScene.start()
    await scene.printed('x = 1')
    await scene.run.signal('close') // not waiting for its end
    expect(await scene.execute('print("x" in globals())')).toMatchObject({
      outcome: { output: 'False\n' },
      isNew: true,
      previous: 'closed',
    })
    await scene.close()
  })

  it('of all ends each one, and gives their names', async () => {
    const one = await SessionScene.start()
    const other = SessionScene.in(one.stack)
    const { sessions } = one.stack.ptc
    await Promise.all([one.printed('x = 1'), other.printed('x = 1')])
    await expect.poll(async () => (await sessions.list()).length).toBe(2)
    expect((await sessions.closeAll()).toSorted()).toEqual([one.name, other.name].toSorted())
    await Promise.all([one.stack.leftClean(one.run), one.stack.leftClean(other.run)])
    expect(await sessions.closeAll()).toEqual([])
  })

  it('by force ends what is executed, and whoever waits for it is told', async () => {
    const begun = new Happening()
    const never = tool('never', () => {
      begun.happen()
      return new Promise(() => undefined)
    })
    const scene = await SessionScene.start({ tools: [never] })
    const executing = expect(scene.execute('await never()')).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await begun.happened
    await scene.run.terminate('by force')
    await executing
    expect(await scene.execute('print(1)')).toMatchObject({ isNew: true, previous: 'terminated' })
  })

  it('by cancelling the run, as `ptc cancel` does, removes the sandbox too', async () => {
    const scene = await SessionScene.start()
    await scene.printed('x = 1')
    await scene.run.cancel()
    await expect(scene.run.result()).rejects.toMatchObject({ cause: { message: 'Workflow canceled' } })
    await scene.stack.leftClean(scene.run)
    await expect(scene.execute('x', { mustExist: true })).rejects.toMatchObject({
      code: 'SESSION_CLOSED',
      message: `session ${scene.name} was cancelled; its variables are gone`,
    })
  })
})

function isAccepted({
  workflowExecutionUpdateAcceptedEventAttributes: accepted,
}: object & {
  readonly workflowExecutionUpdateAcceptedEventAttributes?: unknown
}): boolean {
  return accepted !== null && accepted !== undefined
}
