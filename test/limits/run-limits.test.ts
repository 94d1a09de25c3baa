import { describe, expect, it } from 'vitest'
import { call, code, text, turn } from '../support/script.js'
import { Stack } from '../support/stack.js'
import { Barrier, tool } from '../support/tools.js'

describe('over a limit of the run:', () => {
  it('turns', async () => {
    const turns = [turn(text('working'), call('echo', { value: 1 })), turn(call('echo', { value: 2 }))]
    const stack = await Stack.start({
      script: turns,
      tools: [tool('echo', ({ value }) => value)],
      limits: { turns: 2 },
    })
    expect(await stack.ask()).toMatchObject({ status: 'turn_limit', answer: 'working', turns: 2, toolCalls: 2 })
  })

  it('callsInFlight', async () => {
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
    const stack = await Stack.start({ tools: [work], limits: { callsInFlight: 2 } })
    expect(await stack.run(source)).toMatchObject({ outcome: { status: 'ok', output: 'all\n' }, toolCalls: 6 })
    expect(most).toBe(2)
  })

  it('cellTotalSeconds, and the model is told what to do', async () => {
    const script = [
      turn(code('kept = 1\nimport asyncio\nawait asyncio.sleep(600)')),
      turn(code('print(kept)')),
      turn(text('{{last_tool_result}}')),
    ]
    const stack = await Stack.start({ script, limits: { cellTotalSeconds: 4 } })
    expect(await stack.ask()).toMatchObject({ status: 'answered', answer: '1', cells: 2 })
    expect(JSON.stringify(stack.api.requests.at(1)?.body)).toContain(
      '[timed_out] the code was stopped: with all it waits for it may take 4 seconds. Wait for less at a time.',
    )
  })
})
