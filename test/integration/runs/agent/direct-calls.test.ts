import { describe, expect, it } from 'vitest'
import type { ScriptedBlock } from '../../../../src/testing/scripted-messages-api/script/script.js'
import { z } from 'zod'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Barrier, tool } from '../../../support/tools.js'

describe('several tool_use blocks in one reply', () => {
  it('several tool uses in one reply run in parallel with code, and their results keep the order', async () => {
    const barrier = new Barrier(3)
    const meet = tool('meet', async ({ name }) => {
      await barrier.arrive()
      return name
    })
    const env = await TestEnvironment.start({
      tools: [meet],
      script: [
        turn(call('meet', { name: 'a' }), code('print(await meet(name="b"))'), call('meet', { name: 'c' })),
        turn(text('all met')),
      ],
    })
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'all met', turns: 2, toolCalls: 3 })
    expect(env.lastUserContent()).toMatchObject([{ content: 'a' }, { content: 'b' }, { content: 'c' }])
  })

  it('several uses of execute_code in one reply share the session and run sequentially', async () => {
    const env = await TestEnvironment.start({ script: [turn(code('x = 1'), code('x += 41\nprint(x)')), answerResult] })
    expect(await env.runAgent()).toMatchObject({ answer: expect.stringContaining('42'), cells: 2 })
    expect(env.lastUserContent()).toMatchObject([
      { content: '(no output: print what you need to see)' },
      { content: '42' },
    ])
  })
})

/** The only tool_result after one model reply. */
async function resultOf(tools: readonly ReturnType<typeof tool>[], ...content: readonly ScriptedBlock[]) {
  const env = await TestEnvironment.start({ tools, script: [turn(...content), turn(text('done'))] })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'done' })
  const sent = env.lastUserContent() as readonly { readonly content: string; readonly is_error?: boolean }[]
  const [result] = sent
  if (!result || sent.length !== content.length) throw new Error('each tool_use must have its tool_result')
  return { ...result, activities: (await env.activities()).map(({ type }) => type) }
}

describe('a direct call', () => {
  const failing = tool(
    'failing',
    () => {
      throw new Error('the database is down')
    },
    { retry: { attempts: 1 } },
  )
  const strict = tool('strict', () => 'ran', { input: z.object({ n: z.int() }) })
  const codeOnly = tool('code_only', () => 'ran', { allowedCallers: ['code_execution'] })

  it('a direct call of a tool that fails gives a tool_result with is_error', async () => {
    const result = await resultOf([failing], call('failing'))
    expect(result).toMatchObject({ is_error: true, content: '[tool_error] the database is down' })
  })

  it('a direct call that violates the input schema is refused with the invalid field, and runs nothing', async () => {
    const result = await resultOf([strict], call('strict', { n: 'one' }))
    expect(result).toMatchObject({ is_error: true, content: expect.stringContaining('n: expected number') })
    expect(result.activities).not.toContain('strict')
  })

  it('the host refuses a direct call of a code-only tool', async () => {
    const result = await resultOf([codeOnly], call('code_only'))
    expect(result).toMatchObject({ is_error: true, content: expect.stringMatching(/^\[denied\].*only code/) })
    expect(result.activities).not.toContain('code_only')
  })

  it.each(['no_such_tool', 'constructor', '__proto__'])(
    'a direct call of an unknown tool (%s) is refused',
    async (name) => {
      const result = await resultOf([strict], call(name))
      expect(result).toMatchObject({ is_error: true, content: expect.stringContaining(`"${name}"`) })
    },
  )

  it('a direct call of execute_code without code is refused, and opens no sandbox', async () => {
    const result = await resultOf([], call('execute_code', { source: 'print(1)' }))
    expect(result).toMatchObject({ is_error: true, content: 'execute_code takes {"code": "..."}' })
    expect(result.activities).not.toContain('session.open')
  })

  it('a direct call with an empty result gives a placeholder text, because the API accepts no empty text', async () => {
    expect(await resultOf([tool('empty', () => '')], call('empty'))).toMatchObject({ content: '(empty)' })
  })

  it('a direct call with a long result is truncated in the middle for the model', async () => {
    const { content } = await resultOf([tool('long', () => 'x'.repeat(100_000))], call('long'))
    expect(content.length).toBeLessThan(20_200)
    expect(content).toContain('80000 characters cut')
  })
})

it('code gets the same refusals as exceptions, and a direct-only tool refuses a forged call', async () => {
  const tools = [
    tool('strict', () => 'ran', { input: z.object({ n: z.int() }) }),
    tool('direct_only', () => 'ran', { allowedCallers: ['direct'] }),
  ]
  const source = `
session = next(c.cell_contents for c in strict.__closure__ if hasattr(c.cell_contents, 'call_index'))
for make in (lambda: strict(n="one"), lambda: session.call("direct_only", {}), lambda: session.call("nobody", {})):
    try:
        print(await make())
    except ToolError as error:
        print(type(error).__name__, error.status, str(error).splitlines()[0])
try:
    direct_only
except NameError:
    print("not even there")
`
  const env = await TestEnvironment.start({ tools, script: [turn(code(source)), answerResult] })
  const { answer } = await env.runAgent()
  expect(answer.split('\n')).toEqual([
    'ToolError invalid_arguments The arguments do not fit strict:',
    'ToolDenied denied direct_only is not allowed here: code may not call it; call it directly.',
    expect.stringContaining('ToolDenied denied There is no tool named "nobody"'),
    'not even there',
  ])
  expect((await env.activities()).map(({ type }) => type)).not.toContain('direct_only')
})
