import type { TracingPlugin } from '../../config/define-config.js'
import { flushTraces, hasTracerProvider, startTracing } from '../../worker/plugin/tracing.js'
import { withSpan } from '../../common/telemetry/tracing.js'
import { type Check, failed, ok, warning } from './check.js'

const name = 'Traces'

/** Sends a span to the collector. Returns nothing without traces. */
export async function checkTracing(tracing: TracingPlugin | undefined): Promise<readonly Check[]> {
  if (tracing === undefined) return []
  try {
    await startTracing()
  } catch (thrown) {
    return [failed(name, thrown)]
  }
  if (!(await hasTracerProvider())) {
    const remedy = 'Register one in the configuration: `new NodeTracerProvider({ … }).register()`.'
    return [warning(name, 'no tracer provider is registered: only the spans of workflows are sent', remedy)]
  }
  await withSpan({ name: 'ptc doctor', kind: 'internal', attributes: {} }, () => Promise.resolve())
  const problem = await flushTraces(tracing)
  if (problem === undefined) return [ok(name, 'a span was sent')]
  return [warning(name, problem, 'Check the collector and OTEL_EXPORTER_OTLP_ENDPOINT where the worker runs.')]
}
