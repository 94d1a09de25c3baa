import type { WorkflowInfo } from '@temporalio/workflow'
import type { WorkerOptions } from '@temporalio/worker'
import { messageOf, PtcError } from '../../common/errors.js'
import { useTracer } from '../../common/telemetry/tracing.js'
import type { TracingPlugin } from '../../config/define-config.js'

/**
 * Lets the engine make spans in this process, with OpenTelemetry's global tracer provider.
 *
 * @throws PtcError CONFIG_INVALID
 */
export async function startTracing(): Promise<void> {
  try {
    const { trace } = await import('@opentelemetry/api')
    useTracer(trace.getTracer('durable-ptc'))
  } catch (cause) {
    throw new PtcError('CONFIG_INVALID', 'traces need the package @opentelemetry/api', {
      hint: 'Install it beside durable-ptc: npm install @opentelemetry/api',
      cause,
    })
  }
}

/** Milliseconds that a process waits at its end for a collector that does not answer. */
const flushTimeoutMs = 5_000

/**
 * Sends the spans that wait in this process: those of OpenTelemetry's global provider and of the plugin, each by its
 * `forceFlush`, if it has one. Never rejects.
 *
 * @returns why spans may be lost; undefined when all were sent
 */
export async function flushTraces(tracing: TracingPlugin | undefined): Promise<string | undefined> {
  if (tracing === undefined) return undefined
  let timer: NodeJS.Timeout | undefined
  try {
    const { trace } = await import('@opentelemetry/api')
    const provider = trace.getTracerProvider()
    const targets = [provider, delegateOf(provider), tracing, spanProcessorOf(tracing)].filter(isFlushable)
    const flushed = Promise.all([...new Set(targets)].map((target) => target.forceFlush()))
    const timeout = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${flushTimeoutMs / 1_000} s`)), flushTimeoutMs)
    })
    await Promise.race([flushed, timeout])
    return undefined
  } catch (thrown) {
    return `traces may be incomplete: the last spans were not sent: ${messageOf(thrown)}`
  } finally {
    clearTimeout(timer)
  }
}

/** Whether spans of this process go anywhere. */
export async function hasTracerProvider(): Promise<boolean> {
  const { trace } = await import('@opentelemetry/api')
  const provider = trace.getTracerProvider()
  return isFlushable(delegateOf(provider) ?? provider)
}

interface Flushable {
  forceFlush(): Promise<void>
}

function isFlushable(value: unknown): value is Flushable {
  return isObject(value) && typeof value['forceFlush'] === 'function'
}

/** The provider that the user has registered. OpenTelemetry's API hides it behind its own provider. */
function delegateOf(provider: object): unknown {
  return 'getDelegate' in provider && typeof provider.getDelegate === 'function'
    ? (provider.getDelegate() as unknown)
    : undefined
}

/**
 * The span processor with which the official plugin exports the spans of workflow code. It may differ from that of the
 * global provider.
 */
function spanProcessorOf(tracing: object): unknown {
  const { otelOptions } = tracing as { readonly otelOptions?: unknown }
  return isObject(otelOptions) ? otelOptions['spanProcessor'] : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/**
 * Options of a tracing worker without user content and duplicates: removes the memo of a workflow, which has the
 * question, from the attributes of its spans, and removes interceptors that a bundle already has.
 */
export function withoutContent(options: WorkerOptions): WorkerOptions {
  const { sinks, interceptors = {}, workflowsPath } = options
  const { workflowModules, ...others } = interceptors
  const exporter = sinks?.['exporter']
  const exported = exporter?.['export']
  return {
    ...options,
    interceptors: { ...others, ...(workflowsPath !== undefined && workflowModules && { workflowModules }) },
    ...(exporter &&
      exported && {
        sinks: {
          ...sinks,
          exporter: {
            ...exporter,
            // The official exporter makes an attribute of each field.
            export: { ...exported, fn: (info, ...args) => void exported.fn(identityOf(info), ...args) },
          },
        },
      }),
  }
}

function identityOf({ workflowId, runId, workflowType, taskQueue, namespace }: WorkflowInfo): WorkflowInfo {
  return { workflowId, runId, workflowType, taskQueue, namespace } as WorkflowInfo
}
