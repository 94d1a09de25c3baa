import { expect, it } from 'vitest'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { activityResultTexts } from '../../../support/environment/histories.js'
import { evictedSandboxes, inMode } from '../../../support/mode.js'
import { answerResult, code, text, turn } from '../../../support/script.js'
import {
  requestMessages,
  TestEnvironment,
  type TestEnvironmentOptions,
} from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

const echo = tool('echo', ({ value }) => value)

/** The tool result of the first cell, and the output of the second. */
async function twoCells(first: string, second: string, options: TestEnvironmentOptions = {}) {
  const env = await TestEnvironment.start({
    tools: [echo],
    script: [turn(code('kept = await echo(value="kept")')), turn(code(first)), turn(code(second)), answerResult],
    ...options,
  })
  const { status, answer } = await env.runAgent()
  expect(status).toBe('answered')
  const results = requestMessages(env.api.requests.at(-1)?.body)
    .filter(({ role }) => role === 'user')
    .slice(2)
  const firstResult = (results[0]?.content as readonly unknown[] | undefined)?.[0]
  return { toolResult: firstResult, answer, env }
}

describeDocker('code that breaks its sandbox', () => {
  it('code in an endless loop is stopped at its timeout, and the session continues', async () => {
    const { toolResult, answer, env } = await twoCells('n = 0\nwhile True: n += 1', 'print(kept, n > 0)', {
      limits: { cellSeconds: 1 },
    })
    expect(toolResult).toMatchObject({ is_error: true, content: expect.stringMatching(/^\[timed_out\]/) })
    expect(answer).toBe('kept True')
    expect((await env.activities()).filter(({ type }) => type === 'session.open')).toHaveLength(1 + evictedSandboxes(1))
  })

  it("code that can't be interrupted is killed, and earlier variables are restored", async () => {
    const stubborn = 'sum(iter(int, 1))' // endless C code, which handles no signal
    const { toolResult, answer } = await twoCells(stubborn, 'print(kept)', { limits: { cellSeconds: 1 } })
    expect(toolResult).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/^\[timed_out\][^]*those of earlier cells are there/),
    })
    expect(answer).toBe('kept')
  })

  it('F13: code that exhausts its memory ends the cell with a typed outcome, is not retried, and earlier variables return', async () => {
    const hog = 'rows = []\nwhile True: rows.append(bytearray(8_000_000))'
    const { toolResult, answer, env } = await twoCells(hog, 'print(kept, "rows" in globals())', {
      limits: { memoryBytes: 96 * 1024 * 1024 },
    })
    expect(toolResult).toMatchObject({
      is_error: true,
      content: expect.stringMatching(/^\[limit_exceeded\]|MemoryError/),
    })
    expect(answer).toMatch(/^kept/)
    // One sandbox for the cell, and at most one for the next cell: the cell itself did not run again.
    const rows = await env.activities()
    const runs = rows.filter(({ summary }) => summary === 'run cell 2')
    const { events } = await env.history()
    const from = events.findIndex((event) => event.activityTaskScheduledEventAttributes?.activityId === runs[0]?.id)
    // On a busy machine the daemon misses one in forty out-of-memory kills; then the reason is unknown.
    const missed = activityResultTexts({ events: events.slice(from) }).filter((answer) =>
      answer.includes('exit code 137'),
    ).length
    expect(runs).toHaveLength(1 + missed)
    expect(rows.filter(({ type }) => type === 'session.open').length).toBeLessThanOrEqual(
      2 + missed + evictedSandboxes(1),
    )
  })

  it('code that ends its process is retried once; then earlier variables are restored', async () => {
    let calls = 0
    // The eviction at the note counts as the first loss.
    const note = tool('note', () => (calls += 1))
    const { toolResult, answer, env } = await twoCells(
      'import os\nawait note()\nprint("on the way")\nos._exit(3)',
      'print(kept)',
      { tools: [echo, note] },
    )
    expect(toolResult).toMatchObject({ is_error: true, content: expect.stringMatching(/\[lost\].*exit code 3/) })
    expect(answer).toBe('kept')
    expect(calls).toBe(1)
    expect((await env.activities()).filter(({ type }) => type === 'session.open')).toHaveLength(3 + evictedSandboxes(2))
  })

  it('code gets no result of a call of a dropped cell, although call numbers start again', async () => {
    const old = new Deferred<string>()
    const released = new Deferred()
    const slow = tool('slow', async ({ which }) => {
      if (which === 'old') return old.promise
      old.resolve('of the dropped cell')
      await released.promise
      return 'of this cell'
    })
    const release = tool('release', async () => {
      await old.promise
      await new Promise((resolve) => setTimeout(resolve, 300)) // time for the old result to arrive
      return released.resolve()
    })
    const dying = 'import asyncio, os\nt = asyncio.ensure_future(slow(which="old"))\nawait echo(value=1)\nos._exit(1)'
    const next = 'import asyncio\nprint((await asyncio.gather(slow(which="new"), release()))[0])'
    const { answer } = await twoCells(dying, next, { tools: [echo, slow, release] })
    expect(answer).toBe('of this cell')
  })

  it('a lost sandbox keeps open calls of earlier cells, and their results', async () => {
    const late = new Deferred<string>()
    const slow = tool('slow', () => late.promise)
    const release = tool('release', () => late.resolve('arrived in the cell that died'))
    const env = await TestEnvironment.start({
      tools: [slow, release, echo],
      script: [
        turn(code('import asyncio\ntask = asyncio.ensure_future(slow())\nawait asyncio.sleep(0)\nawait echo(value=1)')),
        turn(code('import os\nawait release()\nawait task\nawait echo(value=2)\nos._exit(1)')),
        turn(code('print(await task)')),
        answerResult,
      ],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'arrived in the cell that died' })
  })
})

describeDocker('a container that is killed', () => {
  const stackWith = async (source: string) => {
    const called = new Deferred()
    const go = new Deferred<string>()
    const wait = tool('wait', () => {
      called.resolve()
      return go.promise
    })
    const env = await TestEnvironment.start({
      tools: [echo, wait],
      script: [turn(code(source)), turn(code('print("fresh")')), turn(text('{{last_tool_result}}'))],
    })
    const handle = await env.startAgent()
    await called.promise
    await env.killContainers(handle)
    go.resolve('waited')
    return { env, handle }
  }

  it('a container killed during code that makes other calls in a rebuild ends the cell as diverged', async ({
    skip,
  }) => {
    skip(inMode('always-evict'), 'it diverges at its first call, before its container can be killed at the second')
    const { env, handle } = await stackWith(
      'await echo(value=open("/proc/sys/kernel/random/uuid").read())\nprint(await wait())',
    )
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: 'fresh' })
    const toolResult = requestMessages(env.api.requests.at(-1)?.body)[2]?.content
    expect(toolResult).toMatchObject([
      {
        is_error: true,
        content: expect.stringMatching(/^\[diverged\][^]*in cell 1, call 1 was `echo .*` before, and now is `echo /),
      },
    ])
    await env.expectCleanEnd(handle)
  })

  it('a container killed during code that uses random numbers and sets is rebuilt, and both are repeated', async () => {
    const source =
      'import random\nawait echo(value=[random.random(), list({str(n) for n in range(50)})])\nprint(await wait())'
    const { env, handle } = await stackWith(source)
    expect(await handle.result()).toMatchObject({ status: 'answered', answer: 'fresh' })
    expect(requestMessages(env.api.requests.at(-1)?.body)[2]?.content).toMatchObject([{ content: 'waited' }])
    await env.expectCleanEnd(handle)
  })
})
