import { describe, expect, it } from 'vitest'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'
import { TestSession } from '../../../support/environment/test-session.js'

const echo = tool('echo', ({ value }) => value)

describe('a session', () => {
  it('a session keeps its variables from one execution to the next, and reports `isNew` only once', async () => {
    const session = await TestSession.start({ tools: [echo] })
    expect(await session.execute('x = await echo(value=41)')).toMatchObject({
      session: session.name,
      outcome: { status: 'ok', output: '' },
      cell: 1,
      toolCalls: 1,
      isNew: true,
      previous: undefined,
    })
    expect(await session.execute('x += 1\nprint(x)')).toMatchObject({
      outcome: { status: 'ok', output: '42\n' },
      cell: 2,
      toolCalls: 0,
      isNew: false,
    })
    expect(await session.execute('print(x, no)')).toMatchObject({ outcome: { status: 'code_error' }, isNew: false })
    expect(await session.outputOf('print(x)')).toBe('42\n')
    await session.close()
  })

  it('a session does not share variables with another session', async () => {
    const one = await TestSession.start()
    const other = TestSession.create(one.env)
    await Promise.all([one.outputOf('mine = 1'), other.outputOf('theirs = 2')])
    expect(await one.outputOf('print("theirs" in globals(), mine)')).toBe('False 1\n')
    expect(await other.outputOf('print("mine" in globals(), theirs)')).toBe('False 2\n')
    await Promise.all([one.close(), other.close()])
  })

  it('sessions with one name on two task queues are separate: variables, tools and end', async () => {
    const one = await TestSession.start({ tools: [echo] })
    const other = TestSession.create(await TestEnvironment.start(), one.name)
    await one.outputOf('mine = await echo(value=1)')
    await expect(other.execute('mine', { mustExist: true })).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    expect(await other.execute('print("mine" in globals(), "echo" in globals())')).toMatchObject({
      session: one.name,
      outcome: { status: 'ok', output: 'False False\n' },
      isNew: true,
    })
    for (const { env, handle } of [one, other]) {
      expect(await env.ptc.sessions.show(one.name)).toMatchObject({ name: one.name, workflowId: handle.workflowId })
    }
    await other.close()
    expect(await one.outputOf('print(mine)')).toBe('1\n')
    await one.close()
  })

  it('a session executes concurrent requests sequentially, and loses none', async () => {
    const session = await TestSession.start({ tools: [echo] })
    // More than the ten concurrent updates that Temporal allows.
    const numbers = Array.from({ length: 14 }, (_, index) => index + 1)
    const code = (n: number) =>
      `order = globals().get("order", [])\norder.append(${n})\nawait echo(value=1)\norder.append(${n})\nprint(order)`
    const executed = await Promise.all(numbers.map((n) => session.execute(code(n))))
    expect(executed.filter(({ isNew }) => isNew)).toHaveLength(1)
    expect(executed.map(({ cell }) => cell).toSorted((a, b) => a - b)).toEqual(numbers)
    const last = executed.find(({ cell }) => cell === numbers.length)
    const order = JSON.parse(last?.outcome.output ?? '') as number[]
    expect(order).toHaveLength(2 * numbers.length)
    for (let place = 0; place < order.length; place += 2) expect(order[place]).toBe(order[place + 1])
    await session.close()
  })

  it('a session is listed and shown only while it exists', async () => {
    const released = new Deferred<null>()
    const begun = new Deferred()
    const hold = tool('hold', () => {
      begun.resolve()
      return released.promise
    })
    const session = await TestSession.start({ tools: [hold], sessions: { idle: '10m' } })
    const { sessions } = session.env.ptc
    await expect(sessions.show(session.name)).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    const executing = session.execute('await hold()')
    await begun.promise
    expect(await sessions.show(session.name)).toMatchObject({
      state: 'busy',
      expiresAt: undefined,
      cells: 1,
      toolCalls: 1,
    })
    released.resolve(null)
    await executing
    const info = await sessions.show(session.name)
    expect(info).toMatchObject({ name: session.name, state: 'idle', cells: 1, toolCalls: 1 })
    expect(info.lastUsedAt.getTime()).toBeGreaterThanOrEqual(info.createdAt.getTime())
    expect(Number(info.expiresAt) - info.lastUsedAt.getTime()).toBe(600_000)
    await expect.poll(() => sessions.list()).toEqual([info])
    await session.close()
    await expect(sessions.show(session.name)).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await expect.poll(() => sessions.list()).toEqual([])
  })

  it('a session refuses an invalid program, another backend, and an invalid name', async () => {
    const session = await TestSession.start({ backend: 'wasm' })
    const refused = { code: 'RUN_INPUT_INVALID' }
    await expect(session.execute(' \n')).rejects.toMatchObject(refused)
    await expect(session.execute('#'.repeat(1_500_001))).rejects.toMatchObject(refused)
    await expect(session.env.ptc.sessions.execute('no name', 'x = 1')).rejects.toMatchObject(refused)
    await expect(session.handle.describe()).rejects.toThrow(/not found/)
    await session.outputOf('x = 1')
    await expect(session.execute('x', { sandbox: 'docker' })).rejects.toMatchObject({
      ...refused,
      message: `session ${session.name} runs in wasm, not in docker`,
    })
    // Bypasses the checks of the client.
    const bare = session.handle.executeUpdate('execute', { args: [{ source: '' }] })
    await expect(bare).rejects.toMatchObject({ cause: { type: 'RUN_INPUT_INVALID' } })
    expect(await session.execute('print(x)', { sandbox: 'wasm' })).toMatchObject({ cell: 2 })
    await session.close()
  })

  it('a full session refuses executions, and keeps its variables', async () => {
    const session = await TestSession.start({ limits: { sessionExecutions: 2 } })
    await session.outputOf('x = 1')
    await session.outputOf('x = 2')
    await expect(session.execute('print(x)')).rejects.toMatchObject({
      code: 'SESSION_FULL',
      message: `session ${session.name} has reached its limit of 2 executions`,
    })
    expect(await session.env.ptc.sessions.show(session.name)).toMatchObject({ state: 'idle', cells: 2 })
    await session.close()
  })
})

describe('closing', () => {
  it('closing a session stops the running and the queued executions, and both report it', async () => {
    const begun = new Deferred()
    const never = tool('never', (_input, { signal }) => {
      begun.resolve()
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    })
    const session = await TestSession.start({ tools: [never] })
    const closed = { code: 'SESSION_CLOSED' }
    const running = expect(session.execute('await never()')).rejects.toMatchObject(closed)
    await begun.promise
    const waiting = expect(session.execute('print(1)')).rejects.toMatchObject(closed)
    await expect.poll(async () => (await session.env.history(session.handle)).events.filter(isAccepted).length).toBe(2)
    expect(await session.env.ptc.sessions.close(session.name)).toEqual({ ended: 'closed', cells: 1, toolCalls: 1 })
    await Promise.all([running, waiting])
    await session.env.expectCleanEnd(session.handle)
    await expect(session.env.ptc.sessions.close(session.name)).rejects.toMatchObject(closed)
  })

  it('a request that arrives while a session closes starts the next one and returns `isNew: true`', async () => {
    const session = await TestSession.start()
    await session.outputOf('x = 1')
    await session.handle.signal('close') // does not wait for the end
    expect(await session.execute('print("x" in globals())')).toMatchObject({
      outcome: { output: 'False\n' },
      isNew: true,
      previous: 'closed',
    })
    await session.close()
  })

  it('closing all sessions ends each one, and returns their names', async () => {
    const one = await TestSession.start()
    const other = TestSession.create(one.env)
    const { sessions } = one.env.ptc
    await Promise.all([one.outputOf('x = 1'), other.outputOf('x = 1')])
    await expect.poll(async () => (await sessions.list()).length).toBe(2)
    expect((await sessions.closeAll()).toSorted()).toEqual([one.name, other.name].toSorted())
    await Promise.all([one.env.expectCleanEnd(one.handle), one.env.expectCleanEnd(other.handle)])
    expect(await sessions.closeAll()).toEqual([])
  })

  it('closing a session by force ends the running execution, which reports it', async () => {
    const begun = new Deferred()
    const never = tool('never', () => {
      begun.resolve()
      return new Promise(() => undefined)
    })
    const session = await TestSession.start({ tools: [never] })
    const executing = expect(session.execute('await never()')).rejects.toMatchObject({ code: 'SESSION_CLOSED' })
    await begun.promise
    await session.handle.terminate('by force')
    await executing
    expect(await session.execute('print(1)')).toMatchObject({ isNew: true, previous: 'terminated' })
  })

  it('cancelling the workflow of a session, as `ptc cancel` does, removes the sandbox, too', async () => {
    const session = await TestSession.start()
    await session.outputOf('x = 1')
    await session.handle.cancel()
    await expect(session.handle.result()).rejects.toMatchObject({ cause: { message: 'Workflow canceled' } })
    await session.env.expectCleanEnd(session.handle)
    await expect(session.execute('x', { mustExist: true })).rejects.toMatchObject({
      code: 'SESSION_CLOSED',
      message: `session ${session.name} was cancelled; its variables are gone`,
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
