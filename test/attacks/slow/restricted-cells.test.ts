import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { defineAgent } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import type { Backend } from '../../support/environment/backends.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { call, code, text, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { RecordedCalls } from '../support/recorded-calls.js'

const about = { instructions: 'You are an agent of a test.', description: 'An agent of a test.' }
const helper = defineAgent({ name: 'helper', ...about, tools: ['echo'], sandbox: 'parent' })
const chief = defineAgent({ name: 'chief', ...about, agents: [helper] })

/** Code of a restricted cell that, after its end, tries to call tools that it does not have. */
const left = `
import contextvars
try:
    await secret(by="helper")
except ToolDenied:
    print("denied")
loop, free = asyncio.get_running_loop(), contextvars.Context
left = [asyncio.ensure_future(secret(by="task"))]
async def stubborn(by):
    while True:
        try:
            await asyncio.sleep(0.01)
            await secret(by=by)
        except asyncio.CancelledError: pass
        except ToolError: return
left.append(loop.create_task(stubborn("stubborn task"), context=free()))
async def respawn():
    try: await asyncio.sleep(600)
    finally: left.append(loop.create_task(stubborn("new task"), context=free()))
left.append(loop.create_task(respawn(), context=free()))
for context in {}, {"context": free()}:
    loop.call_later(0.01, lambda: asyncio.ensure_future(secret(by="timer")), **context)
    loop.call_soon(lambda: loop.call_soon(lambda: asyncio.ensure_future(secret(by="callback"))), **context)
try:
    import threading
    def thread():
        begin.wait(60)
        try: asyncio.run_coroutine_threadsafe(secret(by="thread"), loop).result(60)
        except ToolDenied: print("thread denied")
        finally: done.set()
    begin, done = threading.Event(), threading.Event()
    threading.Thread(target=thread, daemon=True).start()
except RuntimeError: # no threads
    done.set()
print(await echo(by="helper"))
unsent = asyncio.ensure_future(secret(by="unsent"))`

const later = `
begin.set()
if begin.is_set() and not done.is_set(): await asyncio.to_thread(done.wait, 60)
await asyncio.sleep(1)
print("ended:", unsent.cancelled())
print(await secret(by="owner"))`

const attack = (backend: Backend): void => {
  const calls = new RecordedCalls()
  let env: TestEnvironment
  let end = (): Promise<void> => Promise.resolve()
  beforeAll(async () => {
    const turns = [turn(code(left)), turn(text('done'))]
    env = await TestEnvironment.start({
      backend,
      tools: [calls.tool('echo'), calls.tool('secret')],
      agents: [helper, chief, defineAgent({ name: 'visitor', ...about, tools: ['echo'] })],
      script: {
        conversations: [
          {
            match: { firstUserText: { equals: 'go' } },
            turns: [
              turn(code('x = 1')),
              turn(call('helper', { task: 'leave' })),
              turn(code(later)),
              turn(text('done')),
            ],
          },
          { match: { firstUserText: { equals: 'leave' } }, turns },
          { match: { firstUserText: { equals: 'visit' } }, turns },
        ],
      },
      onCleanup: (given) => (end = given),
    })
  })
  beforeEach(() => calls.clear())
  afterAll(() => end())

  const executed = [
    { name: 'echo', input: { by: 'helper' } },
    { name: 'secret', input: { by: 'owner' } },
  ]

  it('B21 code that a sub-agent leaves in the sandbox of its parent calls no tool of the parent', async () => {
    expect(await env.runAgent({ agent: 'chief', question: 'go' })).toMatchObject({ status: 'answered', cells: 3 })
    expect(calls.executed).toEqual(executed)
  })

  it('B21 code that a run leaves in a named session calls no tool of the session', async () => {
    const session = TestSession.create(env, uniqueName('visited'))
    await session.outputOf('x = 1')
    expect(await env.runAgent({ agent: 'visitor', question: 'visit', session: session.name })).toMatchObject({
      status: 'answered',
    })
    expect(await session.outputOf(later)).toContain('ended: True')
    expect(calls.executed).toEqual(executed)
    await session.close()
  })
}

describeDocker('hostile code of a restricted cell, in a container', () => attack('docker'))
describe('hostile code of a restricted cell, in the embedded sandbox', () => attack('wasm'))
