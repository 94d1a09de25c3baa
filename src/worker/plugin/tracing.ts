import type { WorkflowInfo } from '@temporalio/workflow'
import type { WorkerOptions } from '@temporalio/worker'
import { PtcError } from '../../common/errors.js'
import { useTracer } from '../../common/telemetry/tracing.js'

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

/**
 * The options of a worker that traces, without what has no place there: the memo of a workflow, which has the question,
 * in the attributes of its spans, and interceptors that a bundle has already.
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
