import { randomBytes } from 'node:crypto'
import proto from '@temporalio/proto'
import * as nexus from 'nexus-rpc'
import { beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { createDataConverter } from '../../../../src/client/index.js'
import { defineTool, type Tool } from '../../../../src/index.js'
import { createNexusEndpoint, startOtherWorker } from '../../../support/environment/other-worker.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { connectClient, uniqueName } from '../../../support/temporal/shared-server.js'

const any = z.looseObject({})
const common = { description: 'Of a test.', effect: 'read', input: any, output: any } as const
const nothing = { ...common, output: z.null() }
const context = { user: 'marker' }

const service = nexus.service('quotes', {
  quote: nexus.operation<unknown, { price: number }>(),
  refuse: nexus.operation<unknown, null>(),
  unavailable: nexus.operation<unknown, null>(),
  hang: nexus.operation<unknown, null>(),
  endless: nexus.operation<unknown, null>(),
})

/** Input and headers that the handlers of a test received. */
let received: { readonly input: unknown; readonly headers: Readonly<Record<string, string>> }[] = []
let cancelledTokens: string[] = []
beforeEach(() => {
  received = []
  cancelledTokens = []
})

const handlers = nexus.serviceHandler(service, {
  quote: async ({ headers }, input) => {
    received.push({ input, headers })
    return { price: 4 }
  },
  refuse: async () => {
    throw new nexus.OperationError('failed', 'not for sale')
  },
  unavailable: async () => {
    throw new nexus.HandlerError('UNAVAILABLE', 'closed today')
  },
  // The handler ends with the request.
  hang: ({ abortSignal }) =>
    new Promise((_resolve, reject) => {
      abortSignal.addEventListener('abort', () => reject(abortSignal.reason as Error), { once: true })
    }),
  // The operation starts, and does not complete.
  endless: {
    start: async ({ requestId }) => nexus.HandlerStartOperationResult.async(requestId),
    cancel: async (_context, token) => void cancelledTokens.push(token),
  },
})

interface NexusEnvironment {
  readonly env: TestEnvironment
  readonly endpoint: string
  readonly taskQueue: string
}

/** An environment with tools of an endpoint, and a worker of another team behind it. */
async function startWithEndpoint(
  toolsOf: (endpoint: string) => readonly Tool[],
  { encryption }: Pick<TestEnvironmentOptions, 'encryption'> = {},
): Promise<NexusEnvironment> {
  const taskQueue = uniqueName('elsewhere')
  const client = await connectClient()
  const endpoint = await createNexusEndpoint(client, taskQueue)
  await client.connection.close()
  const env = await TestEnvironment.start({ tools: toolsOf(endpoint), ...(encryption && { encryption }) })
  const store = { kind: 'local', directory: env.valuesDirectory } as const
  const converter = encryption && { dataConverter: await createDataConverter(store, { encryption }) }
  await startOtherWorker({ taskQueue, nexusServices: [handlers], ...converter })
  return { env, endpoint, taskQueue }
}

const attempt = `
async def attempt(call):
    try:
        return await call
    except Exception as error:
        return f"{type(error).__name__}: {error}"
`
const linesOf = ({ output }: { readonly output: string }) => output.trimEnd().split('\n')

it('an operation of a Nexus service is a tool: its result and failures are outcomes', async () => {
  const { env } = await startWithEndpoint((endpoint) => {
    const operationOf = (operation: string) => ({ endpoint, service: 'quotes', operation })
    return [
      defineTool({ ...common, name: 'quote', nexus: operationOf('quote') }),
      defineTool({ ...nothing, name: 'refuse', nexus: operationOf('refuse') }),
      defineTool({ ...nothing, name: 'no_operation', nexus: operationOf('nothing') }),
      defineTool({
        ...nothing,
        name: 'no_endpoint',
        timeout: '2s',
        nexus: { ...operationOf('quote'), endpoint: `no-${endpoint}` },
      }),
    ]
  })
  const { outcome } = await env.runProgram(`${attempt}
print(await quote(article="bolt"))
print(await attempt(refuse()))
print(await attempt(no_operation()))
print(await attempt(no_endpoint()))`)
  expect(linesOf(outcome)).toEqual([
    "{'price': 4}",
    'ToolError: refuse: not for sale',
    "ToolDenied: NOT_FOUND: Operation handler not registered for operation 'nothing' in service 'quotes'",
    expect.stringMatching(/^ToolDenied: there is no Nexus endpoint named no-endpoint-/),
  ])
})

const quoteTools = (endpoint: string) => {
  const operation = { endpoint, service: 'quotes', operation: 'quote' }
  return [
    defineTool({ ...common, name: 'quote', nexus: operation }),
    defineTool({ ...common, name: 'quote_call', nexus: { ...operation, passCall: true } }),
  ]
}

it('an operation gets the call, with context and idempotency key, only if its tool asks for it', async () => {
  const { env } = await startWithEndpoint(quoteTools)
  const source = 'await quote(article="bolt")\nfor _ in range(2): await quote_call(article="nut")'
  expect(await env.runProgram(source, { context })).toMatchObject({ outcome: { status: 'ok' } })
  const call = {
    idempotencyKey: expect.stringMatching(/^[0-9a-f]{32}$/),
    tool: 'quote_call',
    caller: 'code_execution',
    run: { namespace: 'default', workflowId: env.lastRun.workflowId, runId: expect.any(String) },
    context,
  }
  const passed = { arguments: { article: 'nut' }, call }
  expect(received.map(({ input }) => input)).toEqual([{ article: 'bolt' }, passed, passed])
  const keys = received.slice(1).map(({ input }) => (input as typeof passed).call.idempotencyKey as unknown)
  expect(new Set(keys).size).toBe(2)
  for (const { headers } of received) expect(JSON.stringify(headers)).not.toMatch(/marker|idempotency/)
})

it('a call of an operation is encrypted in the history, together with its context', async () => {
  const key = randomBytes(32).toString('base64')
  const { env } = await startWithEndpoint(quoteTools, { encryption: { currentKeyId: 'k1', key: () => key } })
  const source = 'print(await quote_call(article="marker"))'
  expect(await env.runProgram(source, { context })).toMatchObject({ outcome: { output: "{'price': 4}\n" } })
  expect(received).toMatchObject([{ input: { arguments: { article: 'marker' }, call: { context } } }])
  const { History } = proto.temporal.api.history.v1
  const bytes = Buffer.from(History.encode(await env.history()).finish())
  expect([bytes.includes('quotes'), bytes.includes('marker')]).toEqual([true, false])
})

it('an operation that never answers, or never completes, ends with the timeout of its tool', async () => {
  const { env, endpoint } = await startWithEndpoint((name) => {
    const operationOf = (operation: string) => ({ endpoint: name, service: 'quotes', operation })
    return [
      defineTool({ ...nothing, name: 'hang', timeout: '3s', nexus: operationOf('hang') }),
      defineTool({ ...nothing, name: 'endless', effect: 'idempotent', timeout: '3s', nexus: operationOf('endless') }),
    ]
  })
  const { outcome } = await env.runProgram(`
import asyncio
for error in await asyncio.gather(hang(), endless(), return_exceptions=True):
    print(f"{type(error).__name__}: {error}")`)
  const reason = `Nexus endpoint ${endpoint} did not answer within 3 seconds`
  expect(linesOf(outcome)).toEqual([`ToolTimedOut: hang: ${reason}`, `ToolTimedOut: endless: ${reason}`])
  const { turns } = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(turns[0]?.cells[0]?.calls.map(({ tool, status }) => [tool, status])).toEqual([
    ['hang', 'timed_out'],
    ['endless', 'timed_out'],
  ])
})

it('a cancelled run requests the cancellation of its operation', async () => {
  const { env } = await startWithEndpoint((endpoint) => [
    defineTool({ ...nothing, name: 'endless', nexus: { endpoint, service: 'quotes', operation: 'endless' } }),
  ])
  const handle = await env.startProgram('await endless()')
  const token = async () => (await handle.describe()).raw.pendingNexusOperations?.[0]?.operationToken ?? ''
  await expect.poll(token, pollOptions).not.toBe('')
  const started = await token()
  await handle.cancel()
  await expect(handle.result()).rejects.toThrow()
  await expect.poll(() => cancelledTokens, { ...pollOptions, timeout: 15_000 }).toEqual([started])
})

it('an endpoint whose task queue no worker polls is reported, and one that fails, with its last failure', async () => {
  const client = await connectClient()
  const nobody = uniqueName('nobody')
  const unserved = await createNexusEndpoint(client, nobody)
  await client.connection.close()
  const { env, endpoint } = await startWithEndpoint((name) => [
    defineTool({
      ...common,
      name: 'quote',
      timeout: '12s',
      nexus: { endpoint: unserved, service: 'quotes', operation: 'quote' },
    }),
    defineTool({
      ...nothing,
      name: 'unavailable',
      timeout: '12s',
      nexus: { endpoint: name, service: 'quotes', operation: 'unavailable' },
    }),
  ])
  const handle = await env.startProgram(`
import asyncio
for error in await asyncio.gather(quote(), unavailable(), return_exceptions=True):
    print(f"{type(error).__name__}: {error}")`)
  const shown = async () => renderTree(await env.ptc.handle(handle.workflowId).tree(), { width: 400, color: false })
  await expect
    .poll(shown, pollOptions)
    .toMatch(
      new RegExp(`no worker takes tasks from ${nobody}: waiting for .* quotes.quote of Nexus endpoint ${unserved}`),
    )
  await expect
    .poll(shown, pollOptions)
    .toMatch(new RegExp(`Nexus endpoint ${endpoint} has not started quotes.unavailable: waiting for .*closed today`))
  const { outcome } = (await handle.result()) as { outcome: { output: string } }
  expect(linesOf(outcome)).toEqual([
    `ToolTimedOut: quote: Nexus endpoint ${unserved} did not answer within 12 seconds`,
    `ToolTimedOut: unavailable: Nexus endpoint ${endpoint} did not answer within 12 seconds`,
  ])
  await env.expectCleanEnd(handle)
})
