import { context, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { Resource } from '@opentelemetry/resources'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { OpenTelemetryPlugin } from '@temporalio/interceptors-opentelemetry'
import { Worker } from '@temporalio/worker'
import { expect, onTestFinished, vi } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import type { Role } from '../../../src/common/names.js'
import { type Script, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { isolateTimeout } from '../../../src/worker/plugin/workflow-bundle.js'
import { workflowBundle } from '../../../src/worker/plugin/workflow-bundle.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { executionHistories, readHistory } from '../../support/environment/histories.js'
import { temporaryFolder } from '../../support/folders.js'
import { type ReceivedSpan, startOtlpReceiver } from '../../support/monitoring/otlp-receiver.js'
import { code, text, turn } from '../../support/script.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'
import { testConfig } from '../../support/environment/test-config.js'

test('a trace goes from the client to the model, the cells and the tools', async ({ taskQueue }) => {
  const receiver = await startOtlpReceiver()
  const tracing = startTracing(receiver.url)
  await startModel([turn(code('print(await plus(a=40, b=2))')), turn(text('42'))])
  const plugin = await createPlugin({ tracing: tracing.plugin, model: { name: 'scripted' } })
  const connection = await connect({ plugins: [plugin] })
  const worker = await createWorker({ connection, taskQueue })
  const client = clientOf(connection)
  const ptc = createPtcClient({ client, taskQueue })
  const run = await worker.runUntil(async () => {
    const started = await ptc.startAgent({ question: 'What is the secret sum?' })
    await started.result()
    return started
  })
  const { spans } = receiver
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  expect(pathOf(spans, 'execute_tool plus')).toEqual([
    'StartWorkflow:agent',
    'RunWorkflow:agent',
    'execute_tool execute_code',
    'StartActivity:plus',
    'RunActivity:plus',
    'execute_tool plus',
  ])
  expect(pathOf(spans, 'chat scripted').slice(-2)).toEqual(['RunActivity:model.turn', 'chat scripted'])
  expect(spanOf(spans, 'chat scripted').attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'anthropic',
    'gen_ai.request.model': 'scripted',
    'gen_ai.usage.output_tokens': expect.any(Number),
  })
  expect(spanOf(spans, 'execute_tool execute_code').attributes).toMatchObject({
    'ptc.cell': 1,
    'ptc.cell.status': 'ok',
  })
  expect(spanOf(spans, 'execute_tool plus').attributes).toMatchObject({ 'gen_ai.tool.name': 'plus', 'ptc.cell': 1 })
  // The official exporter also makes attributes of the workflow's memo. `toContain` would print all spans.
  expect(JSON.stringify(spans).includes('secret')).toBe(false)
  expect(spans.filter(({ name }) => name === 'RunActivity:plus')).toHaveLength(1)
  expect(spans.filter(({ name }) => name === 'RunActivity:session.open')).toHaveLength(1)
  const history = await readHistory(client, run.workflowId)
  await expectReplays('traced', history, run.workflowId)
  await expectReplays('plain', history, run.workflowId)
  expect(JSON.stringify(history)).toContain('_tracer-data')
})

test('a run on workers of separate roles has one trace, also after it continued as new', async ({
  client,
  taskQueue,
}) => {
  const receiver = await startOtlpReceiver()
  const tracing = startTracing(receiver.url)
  await startModel([turn(code('for n in range(40): await plus(a=n, b=1)')), turn(code('print(n)')), turn(text('39'))])
  const common = {
    tracing: tracing.plugin,
    model: { name: 'scripted' },
    ...testConfig({ limits: { historyEvents: 100 } }),
    values: { store: { kind: 'local', directory: await temporaryFolder() } },
  } as const
  const startWorker = async (role: Role) => {
    const connection = await connect({ plugins: [await createPlugin({ ...common, roles: [role] })] })
    return { connection, worker: await createWorker({ connection, taskQueue }) }
  }
  const [workflows, ...others] = [
    await startWorker('workflow'),
    await startWorker('model'),
    await startWorker('tools'),
    await startWorker('sandbox'),
  ] as const
  const tracedClient = clientOf(workflows.connection)
  const run = await createPtcClient({ client: tracedClient, taskQueue }).startAgent({ question: 'Count.' })
  const running = [workflows, ...others].map(({ worker }) => worker.runUntil(() => run.result()))
  for (const result of await Promise.all(running)) expect(result).toMatchObject({ status: 'answered', turns: 3 })
  const { spans } = receiver
  const named = (name: string) => spans.filter((span) => span.name === name)
  const executions = (await executionHistories(client, run)).length
  expect(executions).toBeGreaterThan(2)
  expect(named('RunWorkflow:agent')).toHaveLength(executions)
  expect(named('ContinueAsNew:agent')).toHaveLength(executions - 1)
  expect(named('execute_tool plus')).toHaveLength(40)
  expect(named('chat scripted')).toHaveLength(3)
  expect(named('RunActivity:session.step').length).toBeGreaterThan(0)
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  // Each execution is inside of the one before.
  const executionsAround = pathOf(spans, 'chat scripted', 2).filter((name) => name === 'RunWorkflow:agent')
  expect(executionsAround).toHaveLength(executions)
  expect(spans.filter(({ status }) => status.code === 2)).toEqual([])
})

/** The model of the workers that this process starts. */
async function startModel(script: Script): Promise<void> {
  const api = await startScriptedMessagesApi({ script })
  onTestFinished(() => api.close())
  vi.stubEnv('ANTHROPIC_BASE_URL', api.url)
  vi.stubEnv('ANTHROPIC_API_KEY', 'test-key')
}

/** A tracer provider of this process, as a user sets it up, and the official plugin. Only a flush sends spans. */
function startTracing(url: string) {
  const resource = new Resource({ 'service.name': 'test' })
  const spanProcessor = new BatchSpanProcessor(new OTLPTraceExporter({ url }), { scheduledDelayMillis: 600_000 })
  const provider = new NodeTracerProvider({ resource, spanProcessors: [spanProcessor] })
  provider.register()
  onTestFinished(async () => {
    await provider.shutdown()
    for (const api of [trace, context, propagation]) api.disable()
  })
  return { plugin: new OpenTelemetryPlugin({ resource, spanProcessor }) }
}

/** @param index among the spans with this name, in the order of their end */
function spanOf(spans: readonly ReceivedSpan[], name: string, index = 0): ReceivedSpan {
  const span = spans.filter((each) => each.name === name)[index]
  if (span === undefined) throw new Error(`no span ${name} among ${spans.map((each) => each.name).join(', ')}`)
  return span
}

/** Names of a span and of its ancestors, outermost first. */
function pathOf(spans: readonly ReceivedSpan[], name: string, index = 0): readonly string[] {
  const path: string[] = []
  let span: ReceivedSpan | undefined = spanOf(spans, name, index)
  for (; span !== undefined; span = spans.find(({ spanId }) => spanId === parentOf(span))) path.unshift(span.name)
  return path
}

function parentOf(span: ReceivedSpan | undefined): string | undefined {
  return span?.parentSpanId
}

async function expectReplays(kind: 'plain' | 'traced', history: unknown, workflowId: string): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle: workflowBundle(kind), ...isolateTimeout }, history, workflowId)
}
