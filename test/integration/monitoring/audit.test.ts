import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { AuditEvent } from '../../../src/audit/index.js'
import { defineTool } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { killContainer } from '../../support/environment/containers.js'
import { requestMessages, TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { call, code, text, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'

const readEvents = async (file: string): Promise<readonly AuditEvent[]> =>
  (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEvent)

describeDocker('the audit log of a run', () => {
  it('the audit log has code, calls and refusals, each begin before its effect, and no argument', async () => {
    const file = join(await temporaryFolder(), 'audit.jsonl')
    const called = new Deferred()
    const go = new Deferred<string>()
    const seenByTool: (readonly string[])[] = []
    const env = await TestEnvironment.start({
      backend: 'docker',
      audit: { file },
      tools: [
        tool('pay', async () => {
          seenByTool.push((await readEvents(file)).map(({ type }) => type))
          return null
        }),
        tool('wait', () => {
          called.resolve()
          return go.promise
        }),
      ],
      script: [
        turn(
          code(
            'await pay(iban="DE89-secret")\nawait wait()\ntry:\n    await no_such_tool()\nexcept Exception as error:\n    print(error)',
          ),
        ),
        turn(call('no_tool_either')),
        turn(text('done')),
      ],
    })
    const handle = await env.startAgent({ context: { user: 'ada', tenant: 'acme', secret: 'token' } })
    await called.promise
    await killContainer(handle)
    go.resolve('')
    await env.agentResult(handle)
    const events = await readEvents(file)
    const types = events.map(({ type }) => type)
    expect(seenByTool).toEqual([['turn.completed', 'cell.started', 'call.started']])
    expect(types.filter((type) => type === 'call.started')).toHaveLength(2)
    // The tool use with the code, by its id in the next request.
    const [, reply] = requestMessages(env.api.requests.at(-1)?.body)
    const [use] = (reply?.content ?? []) as readonly { readonly id: string }[]
    const toolUseCaller = { type: 'code_execution_20260120', tool_id: use?.id }
    const paid = { tool: 'pay', caller: 'code_execution', toolUseCaller, cell: 1 }
    expect(events).toContainEqual(expect.objectContaining({ type: 'call.started', ...paid }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'call.completed', ...paid }))
    expect(events).toContainEqual(expect.objectContaining({ type: 'cell.started', cell: 1, epoch: 1 }))
    expect(types.filter((type) => type === 'cell.started')).toHaveLength(1)
    expect(events).toContainEqual(expect.objectContaining({ type: 'call.refused', tool: 'no_tool_either' }))
    expect(events.every(({ user, tenant }) => user === 'ada' && tenant === 'acme')).toBe(true)
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
    expect(JSON.stringify(events).includes('secret')).toBe(false)
  })
})

it('the audit log has the calls that other workers execute, each begin before its effect', async () => {
  const file = join(await temporaryFolder(), 'audit.jsonl')
  const taskQueue = uniqueName('elsewhere')
  const { namespace, address } = sharedServer()
  const connection = await NativeConnection.connect({ address })
  onTestFinished(() => connection.close())
  const seen: string[][] = []
  const quote = async ({ article }: { readonly article: string }): Promise<number> => {
    seen.push((await readEvents(file)).map(({ type }) => type))
    if (article === 'none') throw new Error('no such article')
    return article.length
  }
  const other = await Worker.create({ connection, namespace, taskQueue, activities: { quote } })
  const ended = other.run()
  onTestFinished(async () => {
    other.shutdown()
    await ended
  })
  const input = z.object({ article: z.string() })
  const of = { description: 'Of a test.', effect: 'once', input, output: z.number() } as const
  const tools = [defineTool({ ...of, name: 'quote', activity: { taskQueue } })]
  const env = await TestEnvironment.start({ tools, audit: { file } })
  const source = `print(await quote(article="secret"))
try: await quote(article="none")
except ToolOutcomeUnknown: print("unknown")`
  const handle = await env.startProgram(source, { context: { tenant: 'acme' } })
  expect(await handle.result()).toMatchObject({ outcome: { output: '6\nunknown\n' } })
  expect(seen[0]).toEqual(['cell.started', 'call.started'])
  const events = await readEvents(file)
  expect(events.filter(({ type }) => type.startsWith('call.'))).toMatchObject([
    { type: 'call.started', tool: 'quote', tenant: 'acme', index: 1, digest: expect.stringMatching(/^[0-9a-f]{16,}$/) },
    { type: 'call.completed', tool: 'quote', caller: 'code_execution' },
    { type: 'call.started', tool: 'quote', index: 2 },
    { type: 'call.failed', tool: 'quote', status: 'outcome_unknown' },
  ])
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect(JSON.stringify(events).includes('secret')).toBe(false)
  await env.expectCleanEnd(handle)
})

it('the audit log has decisions on calls, each before the code continues, and who decided', async () => {
  const file = join(await temporaryFolder(), 'audit.jsonl')
  const seen: (readonly string[])[] = []
  const calls = new DeferredToolCalls()
  const look = tool('look', async () => {
    const decisionOf = (event: AuditEvent) =>
      event.type === 'call.decided' ? event.decision : event.type === 'call.expired' ? 'expired' : []
    seen.push((await readEvents(file)).flatMap(decisionOf))
    return null
  })
  const pay = tool('pay', () => null, { approval: 'always' })
  const tools = [calls.tool('approve'), calls.tool('approve_soon', { expires: '2s' }), pay, look]
  const tokens: string[] = []
  const approvals = { onRequest: ({ token }: { readonly token: string }) => void tokens.push(token) }
  const env = await TestEnvironment.start({ tools, audit: { file }, approvals })
  const source = `print(await approve(id=1))
await look()
try: await approve(id=2)
except ToolError as error: print(error)
await look()
try: await approve_soon(id=3)
except ToolTimedOut as error: print(error)
await pay()
await look()`
  const handle = await env.startProgram(source, { context: { tenant: 'acme' } })
  await env.ptc.completeCall(await calls.token(1), { approved: true }, { by: 'ada' })
  await env.ptc.failCall(await calls.token(2), 'a secret reason')
  await expect.poll(() => tokens.length).toBe(1)
  await env.ptc.approveCall(tokens[0] ?? '', { by: 'bob' })
  expect(await handle.result()).toMatchObject({
    outcome: {
      output: expect.stringMatching(/^\{'approved': True\}\na secret reason\napprove_soon has expired: .+\n$/),
    },
  })
  expect(seen).toEqual([['completed'], ['completed', 'failed'], ['completed', 'failed', 'expired', 'approved']])
  const events = await readEvents(file)
  const of = { caller: 'code_execution', tenant: 'acme', cell: 1 }
  const digest = expect.stringMatching(/^[0-9a-f]{16,}$/)
  const decisions = events.filter(({ type }) => type === 'call.decided' || type === 'call.expired')
  expect(decisions).toMatchObject([
    { ...of, tool: 'approve', index: 1, decision: 'completed', by: 'ada', digest },
    { ...of, tool: 'approve', index: 3, decision: 'failed', by: env.client.options.identity, digest },
    { ...of, type: 'call.expired', tool: 'approve_soon', index: 5 },
    { ...of, tool: 'pay', index: 6, decision: 'approved', by: 'bob' },
  ])
  expect(decisions[2]).not.toHaveProperty('by')
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect(JSON.stringify(events)).not.toMatch(/secret/)
  await env.expectCleanEnd(handle)
})

it("a deferred call keeps waiting while the audit log can't store the decision on it", async () => {
  const calls = new DeferredToolCalls()
  let isBroken = true
  let rejected = 0
  const sink = {
    write({ type }: AuditEvent) {
      if (type !== 'call.decided' || !isBroken) return Promise.resolve()
      rejected += 1
      return Promise.reject(new Error('disk full'))
    },
  }
  const env = await TestEnvironment.start({ tools: [calls.tool('approve')], audit: { sink } })
  const handle = await env.startProgram('print(await approve(id=1))')
  const completed = env.ptc.completeCall(await calls.token(1), { approved: true })
  await expect.poll(() => rejected).toBeGreaterThan(1)
  expect(await handle.describe()).toMatchObject({ status: { name: 'RUNNING' } })
  isBroken = false
  await completed
  expect(await handle.result()).toMatchObject({ outcome: { output: "{'approved': True}\n" } })
})
