/*
 * Spans of the engine, in OpenTelemetry's conventions for generative AI.
 *
 * Owns: the names and attributes of the engine's spans. Boundary: the plugin of
 * `@temporalio/interceptors-opentelemetry` carries the trace from client to workflow to activity, and exports the spans
 * of workflow code. The worker sets the tracer of its process; `workflows/temporal/traced.ts` sets the tracer of
 * workflow code.
 *
 * Invariants: 1. Without a tracer, the functions do nothing and add no promise. 2. No span has content: no question,
 * code, argument, result or answer.
 */

export type SpanAttributes = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** The part of OpenTelemetry's `Span` that is used here. */
interface Span {
  setAttributes(attributes: Record<string, string | number | string[] | undefined>): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

/** The part of OpenTelemetry's `Tracer` that is used here. */
export interface Tracer {
  startActiveSpan<Result>(
    name: string,
    options: { kind: number; attributes: Record<string, string | number | string[] | undefined> },
    work: (span: Span) => Result,
  ): Result
}

/** OpenTelemetry's SpanKind and SpanStatusCode. */
const kinds = { internal: 0, client: 2 } as const
const errorStatus = 2

let tracer: Tracer | undefined

/** Sets the tracer of this process, or of this isolate of workflow code. */
export function useTracer(newTracer: Tracer): void {
  tracer = newTracer
}

export interface SpanOptions {
  readonly name: string
  readonly kind: keyof typeof kinds
  readonly attributes: SpanAttributes
}

/** Runs work in a span that ends with it. `setAttributes` adds attributes that are known later. */
export function withSpan<Result>(
  { name, kind, attributes }: SpanOptions,
  work: (setAttributes: (attributes: SpanAttributes) => void) => Promise<Result>,
): Promise<Result> {
  if (tracer === undefined) return work(() => undefined)
  const options = { kind: kinds[kind], attributes: toMutable(attributes) }
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work((added) => void span.setAttributes(toMutable(added)))
    } catch (thrown) {
      const type = errorType(thrown)
      // The span has no message, because a message may quote a tool or a model. Continue-as-new, which the SDK throws,
      // is not an error.
      if (type !== 'ContinueAsNew') {
        span.setAttributes({ 'error.type': type })
        span.setStatus({ code: errorStatus })
      }
      throw thrown
    } finally {
      span.end()
    }
  })
}

function errorType(thrown: unknown): string {
  const { code, name } = (thrown ?? {}) as { readonly code?: unknown; readonly name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown'
}

function toMutable(attributes: SpanAttributes): Record<string, string | number | string[] | undefined> {
  const entries = Object.entries(attributes).map(([key, value]) => [key, Array.isArray(value) ? [...value] : value])
  return Object.fromEntries(entries) as Record<string, string | number | string[] | undefined>
}

/** Returns the span of one execution of a tool, or of code (`execute_code`). */
export function toolSpan(tool: string, attributes: SpanAttributes): SpanOptions {
  return {
    name: `execute_tool ${tool}`,
    kind: 'internal',
    attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool, ...attributes },
  }
}

export function modelSpan(model: string, attributes: SpanAttributes): SpanOptions {
  return {
    name: `chat ${model}`,
    kind: 'client',
    attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, ...attributes },
  }
}
