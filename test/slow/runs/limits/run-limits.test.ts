import { describe, expect, it } from 'vitest'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { TestSession } from '../../../support/environment/test-session.js'
import { Barrier, Deferred, tool } from '../../../support/tools.js'

/** Limits that allow four results of `large`, and continue as new early. */
const limits = { storedBytes: 2_000_000, historyEvents: 100 }

/** A tool with distinct results of 500,000 bytes of JSON, whose calls are counted, and one with small results. */
function countedTools() {
  let calls = 0
  const large = tool('large', () => String((calls += 1)).padEnd(499_998, '.'))
  return { large, small: tool('small', () => null), calls: () => calls }
}

describe('limits of a run', () => {
  it('a run ends at the limit turns', async () => {
    const turns = [turn(text('working'), call('echo', { value: 1 })), turn(call('echo', { value: 2 }))]
    const env = await TestEnvironment.start({
      script: turns,
      tools: [tool('echo', ({ value }) => value)],
      limits: { turns: 2 },
    })
    expect(await env.runAgent()).toMatchObject({ status: 'turn_limit', answer: 'working', turns: 2, toolCalls: 2 })
  })

  it('callsInFlight limits the concurrent calls of a run', async () => {
    let open = 0
    let most = 0
    const both = new Barrier(2)
    const work = tool('work', async () => {
      most = Math.max(most, (open += 1))
      await both.arrive()
      open -= 1
      return null
    })
    const source = 'import asyncio\nawait asyncio.gather(*(work(n=n) for n in range(6)))\nprint("all")'
    const env = await TestEnvironment.start({ tools: [work], limits: { callsInFlight: 2 } })
    expect(await env.runProgram(source)).toMatchObject({ outcome: { status: 'ok', output: 'all\n' }, toolCalls: 6 })
    expect(most).toBe(2)
  })

  it('when code is lost, its running calls continue, and calls that wait for a slot never start', async () => {
    const release = new Deferred()
    const events: string[] = []
    const work = tool('work', async ({ n }) => {
      events.push(`begin ${Number(n)}`)
      if (n === 1) await release.promise
      events.push(`end ${Number(n)}`)
      return n
    })
    const session = await TestSession.start({ tools: [work], limits: { callsInFlight: 1, cellSeconds: 1 } })
    const background = 'import asyncio\nt = [asyncio.create_task(work(n=n)) for n in (1, 2)]\nawait asyncio.sleep(0.1)'
    await session.outputOf(background)
    const stubborn = 'sum(iter(int, 1))' // endless C code, which handles no signal
    const { outcome } = await session.execute(
      `lost = asyncio.create_task(work(n=3))\nawait asyncio.sleep(0.1)\n${stubborn}`,
    )
    expect(outcome).toMatchObject({ status: 'timed_out', sessionKept: false })
    expect(await session.outputOf('print(len((await asyncio.wait(t, timeout=1))[0]))')).toMatch(/^0\n/)
    release.resolve()
    expect(await session.outputOf('print(await asyncio.gather(*t))')).toBe('[1, 2]\n')
    expect(events).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2'])
    await session.close()
  })

  it('storedBytes limits a run in direct calls and in cells, also after a continue-as-new', async () => {
    const { large, small, calls } = countedTools()
    const cell = (n: number) => turn(code(`await large(n=${n})\nfor n in range(8): await small(n=n)\nprint("done")`))
    const script = [
      turn(call('large')),
      cell(1),
      cell(2),
      cell(3),
      turn(call('large')),
      turn(code('print("nothing but a print")')),
      answerResult,
    ]
    const env = await TestEnvironment.start({ script, tools: [large, small], limits })
    expect(await env.runAgent()).toMatchObject({
      answer: expect.stringMatching(/^\[limit_exceeded\] arguments, results and/),
    })
    expect(calls()).toBe(4)
    expect((await env.executionHistories()).length).toBeGreaterThan(1)
    expect(JSON.stringify(env.api.requests.at(5)?.body)).toContain(
      '[denied] the run has used up the 2000000 bytes it may store',
    )
  })

  it('storedBytes limits a program that continues as new in the middle of its cell', async () => {
    const { large, small, calls } = countedTools()
    const env = await TestEnvironment.start({ tools: [large, small], limits })
    const source = 'for n in range(10):\n  await large(n=n)\n  for m in range(8): await small(m=m)'
    expect((await env.runProgram(source)).outcome).toMatchObject({
      status: 'limit_exceeded',
      error: expect.stringMatching(/^arguments, results and output of this session have used up their 2000000 bytes/),
    })
    expect(calls()).toBe(4)
    expect((await env.executionHistories()).length).toBeGreaterThan(1)
  })

  it('cellTotalSeconds limits a run, with a remedy for the model', async () => {
    const script = [
      turn(code('kept = 1\nimport asyncio\nawait asyncio.sleep(600)')),
      turn(code('print(kept)')),
      turn(text('{{last_tool_result}}')),
    ]
    const env = await TestEnvironment.start({ script, limits: { cellTotalSeconds: 4 } })
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: '1', cells: 2 })
    expect(JSON.stringify(env.api.requests.at(1)?.body)).toContain(
      '[timed_out] the code was stopped: a cell may take 4 seconds, waiting included. Wait for less at a time.',
    )
  })
})
