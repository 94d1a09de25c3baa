import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { deferred } from '../../../src/common/async/deferred.js'
import { defineTool } from '../../../src/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { connectMcp, type Generation, idOf, serveMcp, testMcpHost, textOf } from '../../support/mcp/mcp-host.js'
import { noModel } from '../../support/script.js'

/** A tool that returns when the test says so, and counts its calls. */
function gate() {
  const opened = deferred<string>()
  const entered = deferred<void>()
  const counts = { calls: 0 }
  const tool = defineTool({
    name: 'gate',
    description: 'Waits.',
    input: z.object({}),
    output: z.string(),
    effect: 'once',
    allowedCallers: ['direct', 'code_execution'],
    run: async (_, { milestone }) => {
      counts.calls += 1
      milestone('at the gate')
      entered.resolve()
      return opened.promise
    },
  })
  return { tool, counts, entered: entered.promise, open: (value: string) => opened.resolve(value) }
}

describe('work that a host has begun', () => {
  it.each<Generation>(['2025', '2026'])(
    'continues when the server ends, and another server returns its result (protocol of %s)',
    async (generation) => {
      const { tool, counts, entered, open } = gate()
      const env = await TestEnvironment.start({ tools: [tool], script: noModel })
      const host = testMcpHost(env, [tool])
      const first = await serveMcp(host)
      const client = await connectMcp(first.url, generation)
      const session = `ends-${generation}`
      env.sessionHandle(session)
      const code = { name: 'execute_code', arguments: { code: 'print(await gate())', session } }
      const begun = await client.callTool({ ...code, arguments: { ...code.arguments, wait_seconds: 0 } })
      await entered
      const waiting = client.callTool({ name: 'wait_for_result', arguments: { id: idOf(begun) } })
      const lost = expect(waiting).rejects.toThrow()
      await first.close()
      await lost
      open('the value')
      const second = await connectMcp((await serveMcp(host)).url, generation)
      const result = await second.callTool({ name: 'wait_for_result', arguments: { id: idOf(begun) } })
      expect(textOf(result)).toMatch(/^the value\n/)
      expect(counts.calls).toBe(1)
    },
  )

  it('is interrupted by a host that cancels its request, and the session keeps its variables', async () => {
    const { tool, entered } = gate()
    const env = await TestEnvironment.start({ tools: [tool], script: noModel })
    const client = await connectMcp((await serveMcp(testMcpHost(env, [tool]))).url, '2025')
    const session = 'cancelled'
    env.sessionHandle(session)
    const cancel = new AbortController()
    const code = 'x = 5\nprint(await gate())'
    const cancelled = client.callTool({ name: 'execute_code', arguments: { code, session } }, { signal: cancel.signal })
    await entered
    cancel.abort('the user pressed stop')
    await expect(cancelled).rejects.toThrow('the user pressed stop')
    const next = await client.callTool({ name: 'execute_code', arguments: { code: 'print(x)', session } })
    expect(textOf(next)).toBe('5')
  })

  it('is a task for clients that ask for one: with its state, result, cancellation and list', async () => {
    const { tool, entered, open } = gate()
    const env = await TestEnvironment.start({ tools: [tool], script: noModel })
    const host = testMcpHost(env, [tool])
    const { url, close } = await serveMcp(host)
    const client = await connectLegacy(url)
    const { tasks } = client.experimental
    const messages = tasks.callToolStream({ name: 'gate', arguments: {} }, CallToolResultSchema, {
      task: { ttl: 60_000 },
    })
    const created = await messages.next()
    expect(created.value).toMatchObject({ type: 'taskCreated', task: { status: 'working', ttl: null } })
    const taskId = created.value?.type === 'taskCreated' ? created.value.task.taskId : ''
    await entered
    expect(await tasks.getTask(taskId)).toMatchObject({ taskId, status: 'working' })
    await close()
    const again = await connectLegacy((await serveMcp(host)).url)
    open('the value')
    const result = await again.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)
    expect(result.content).toEqual([{ type: 'text', text: 'the value' }])
    expect(await again.experimental.tasks.getTask(taskId)).toMatchObject({ status: 'completed' })
    await expect(again.experimental.tasks.getTask('run:no-such-run')).rejects.toThrow(/no-such-run/)
    await expect(again.experimental.tasks.getTask('nonsense')).rejects.toThrow('is not the id of work')
  })

  it('reports its progress to a host that asks for it', async () => {
    const { tool, entered, open } = gate()
    const env = await TestEnvironment.start({ tools: [tool], script: noModel })
    const client = await connectMcp((await serveMcp(testMcpHost(env, [tool]))).url, '2026')
    const seen: string[] = []
    const atGate = deferred<void>()
    const onprogress = ({ message = '' }) => {
      seen.push(message)
      if (message.includes('at the gate')) atGate.resolve()
    }
    const session = 'progress'
    env.sessionHandle(session)
    const args = { code: 'print(await gate())', session }
    const result = client.callTool({ name: 'execute_code', arguments: args }, { onprogress })
    await entered
    await atGate.promise
    open('done')
    expect(textOf(await result)).toMatch(/^done/)
    expect(seen.at(-1)).toBe('It has ended, 1 call done')
  })
})

it('reports its progress to the log of a host without a progress token, unless the host wants only warnings', async () => {
  const { tool, entered, open } = gate()
  const env = await TestEnvironment.start({ tools: [tool], script: noModel })
  const { url } = await serveMcp(testMcpHost(env, [tool]))
  const logOf = async (level?: 'warning') => {
    const client = await connectMcp(url, '2025')
    if (level !== undefined) await client.setLoggingLevel(level)
    const lines: unknown[] = []
    client.setNotificationHandler('notifications/message', ({ params }) => void lines.push(params))
    return { client, lines }
  }
  const [loud, quiet] = [await logOf(), await logOf('warning')]
  const results = [loud, quiet].map(({ client }, n) => {
    const session = `log-${n}`
    env.sessionHandle(session)
    return client.callTool({ name: 'execute_code', arguments: { code: 'print(await gate())', session } })
  })
  await entered
  open('done')
  for (const result of results) expect(textOf(await result)).toMatch(/^done/)
  expect(loud.lines).toContainEqual({ level: 'info', logger: 'durable-ptc', data: 'It has ended, 1 call done' })
  expect(quiet.lines).toEqual([])
})

describe('requests that are wrong', () => {
  it('get an error that says what is wrong, and end nothing', async () => {
    const { tool } = gate()
    const env = await TestEnvironment.start({ tools: [tool], script: noModel })
    const errors: unknown[] = []
    const { url } = await serveMcp(testMcpHost(env, [tool], errors))
    const client = await connectMcp(url, '2025')
    const call = async (name: string, args: Record<string, unknown>) =>
      client.callTool({ name, arguments: args }).then(textOf, (thrown: Error) => `thrown: ${thrown.message}`)
    expect(await call('execute_code', {})).toContain('expected string')
    expect(await call('execute_code', { code: '' })).toContain('the program is empty')
    expect(await call('execute_code', { code: 'x', session: '../etc' })).toContain("can't be the name of a session")
    expect(await call('execute_code', { code: 'x', wait_seconds: -1 })).toContain('Too small')
    expect(await call('execute_code', { code: 'x', more: 1 })).toContain('Unrecognized key')
    expect(await call('execute_code', { code: 'x', network: false })).toContain('Unrecognized key')
    expect(await call('wait_for_result', { id: 'x' })).toContain('is not the id of work')
    expect(await call('wait_for_result', { id: 'run:missing' })).toMatch(/missing/)
    expect(await call('run_agent', { question: 'x', agent: 'nobody' })).toMatch(/nobody/)
    expect(await call('no_such_tool', {})).toMatch(/^thrown: .*there is no tool no_such_tool/)
    expect(errors).toEqual([])
  })

  it('are refused before they are parsed when they are too large, and without the token', async () => {
    const { tool } = gate()
    const env = await TestEnvironment.start({ tools: [tool], script: noModel })
    const { url } = await serveMcp(testMcpHost(env, [tool]), 'secret')
    const post = async (body: string, headers: Record<string, string> = {}) => {
      const accept = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
      const response = await fetch(url, { method: 'POST', body, headers: { ...accept, ...headers } })
      return { status: response.status, text: await response.text() }
    }
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    expect(await post(list)).toMatchObject({ status: 401 })
    expect(await post(list, { Authorization: 'Bearer wrong' })).toMatchObject({ status: 401 })
    const access = { Authorization: 'Bearer secret' }
    expect(await post(list, access)).toMatchObject({ status: 400 })
    expect(await post(list, { ...access, 'Mcp-Session-Id': 'unknown' })).toMatchObject({ status: 404 })
    expect(await post('{', access)).toMatchObject({ status: 400 })
    expect(await post('['.repeat(100_000), access)).toMatchObject({ status: 400 })
    expect(await post(`"${'x'.repeat(5_000_000)}"`, access)).toMatchObject({ status: 413 })
    expect(await post(list, { ...access, Origin: 'https://evil.example' })).toMatchObject({ status: 403 })
  })
})

async function connectLegacy(url: string): Promise<LegacyClient> {
  const client = new LegacyClient({ name: 'test', version: '1' }, { capabilities: { tasks: {} } })
  await client.connect(new LegacyTransport(new URL(url)))
  onTestFinished(() => client.close())
  return client
}
