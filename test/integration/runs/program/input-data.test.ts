import { expect, it } from 'vitest'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

it.each([
  ['a small value', { limit: 7 }],
  ['a large value', { limit: 7, rows: Array.from({ length: 3_000 }, (_, id) => id) }],
])('a rebuilt sandbox has %s again, with the changes of the code', async (_name, input) => {
  const called = new Deferred()
  const opened = new Deferred()
  const gate = tool('gate', async () => {
    called.resolve()
    await opened.promise
    return null
  })
  const env = await TestEnvironment.start({ tools: [gate] })
  const handle = await env.startProgram(
    'input_data["limit"] += 1\nawait gate()\nprint(input_data["limit"], len(input_data.get("rows", [])))\nprint(callable(input))',
    { input },
  )
  await called.promise
  await env.killContainers(handle)
  opened.resolve()
  const rows = 'rows' in input ? 3_000 : 0
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: `8 ${rows}\nTrue\n` } })
  const opens = (await env.activities()).filter(({ type }) => type === 'session.open')
  expect(opens.length).toBeGreaterThan(1)
  await env.expectCleanEnd(handle)
})

it('a cell that lost its sandbox permanently leaves the input to the next one', async () => {
  const env = await TestEnvironment.start({
    script: [
      { reply: { content: [{ type: 'tool_use', name: 'execute_code', input: { code: 'import os\nos._exit(1)' } }] } },
      { reply: { content: [{ type: 'tool_use', name: 'execute_code', input: { code: 'print(input_data)' } }] } },
      { reply: { content: [{ type: 'text', text: '{{last_tool_result}}' }] } },
    ],
  })
  expect(await env.runAgent({ input: 'kept' })).toMatchObject({ answer: 'kept' })
})
