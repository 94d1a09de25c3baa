import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { askHuman, defineTool } from '../../../src/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { connectMcp, type Generation, idOf, serveMcp, testMcpHost, textOf } from '../../support/mcp/mcp-host.js'
import { noModel, text, turn } from '../../support/script.js'

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.object({ sum: z.number() }),
  effect: 'read',
  allowedCallers: ['direct', 'code_execution'],
  run: ({ a, b }) => ({ sum: a + b }),
})

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ euros: z.number() }),
  output: z.string(),
  effect: 'once',
  approval: 'always',
  run: ({ euros }) => `paid ${euros}`,
})

const tools = [add, pay, askHuman()]

describe.each<Generation>(['2025', '2026'])('an MCP host of the protocol of %s', (generation) => {
  it('lists the tools, executes code in a session, and calls a tool', async () => {
    const env = await TestEnvironment.start({ tools, script: noModel })
    const errors: unknown[] = []
    const { url } = await serveMcp(testMcpHost(env, tools, errors))
    const client = await connectMcp(url, generation)
    const { tools: listed } = await client.listTools()
    expect(listed.map(({ name }) => name)).toEqual(['execute_code', 'add', 'ask_human', 'run_agent', 'wait_for_result'])
    expect(listed[0]?.description).toContain('pay(')

    const session = `session-${generation}`
    env.sessionHandle(session)
    const code = (text: string) => client.callTool({ name: 'execute_code', arguments: { code: text, session } })
    expect(textOf(await code('x = (await add(a=1, b=2))["sum"]\nprint(x)'))).toMatch(/^3\n/)
    const second = await code('print(x + 1)')
    expect(second).toMatchObject({ content: [{ type: 'text', text: '4' }] })
    const failed = await code('print("before")\n1 / 0')
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).toMatch(/^before\n.*ZeroDivisionError/s)

    const sum = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
    expect(sum).toMatchObject({ structuredContent: { sum: 3 }, content: [{ type: 'text', text: '{"sum":3}' }] })
    const refused = await client.callTool({ name: 'add', arguments: { a: 'one' } })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)).toMatch(/^\[invalid_arguments\] .*expected number/s)
    await expect(client.callTool({ name: 'pay', arguments: {} })).rejects.toThrow('there is no tool pay')
    expect(errors).toEqual([])
  })

  it('asks a person for the approval of a call and for an answer, and continues', async () => {
    const env = await TestEnvironment.start({ tools, script: noModel })
    const { url } = await serveMcp(testMcpHost(env, tools))
    const questions: string[] = []
    const client = await connectMcp(url, generation, {
      capabilities: { elicitation: {} },
      setUp: (each) =>
        each.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params.message)
          if (params.message.startsWith('Which')) return { action: 'accept', content: { answer: 'INV-8' } }
          const isLarge = params.message.includes('1000')
          return {
            action: 'accept',
            content: isLarge ? { decision: 'deny', reason: 'too much' } : { decision: 'approve' },
          }
        }),
    })
    const session = `asks-${generation}`
    env.sessionHandle(session)
    const source = `
print(await pay(euros=5))
try:
    print(await pay(euros=1000))
except ToolError as error:
    print(error)
print(await ask_human(question="Which invoice?"))`
    const result = await client.callTool({ name: 'execute_code', arguments: { code: source, session } })
    expect(textOf(result)).toMatch(/^paid 5\n.*too much.*\nINV-8\n/s)
    expect(questions).toEqual([
      expect.stringMatching(/^Approve this call\?\npay\(\{\s+"euros": 5\s+\}\)/),
      expect.stringMatching(/"euros": 1000/),
      'Which invoice?',
    ])
  })

  it('runs an agent, and returns before its end when the time is over', async () => {
    const env = await TestEnvironment.start({ tools, script: [turn(text('It is 42.'))] })
    const { url } = await serveMcp(testMcpHost(env, tools))
    const client = await connectMcp(url, generation)
    const started = await client.callTool({ name: 'run_agent', arguments: { question: 'What?', wait_seconds: 0 } })
    const id = idOf(started)
    expect(textOf(started)).toContain(`wait_for_result with the id ${id}`)
    const result = await client.callTool({ name: 'wait_for_result', arguments: { id } })
    expect(textOf(result)).toBe('It is 42.')
  })
})
