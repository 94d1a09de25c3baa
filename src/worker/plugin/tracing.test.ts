import { trace } from '@opentelemetry/api'
import { afterEach, expect, it, vi } from 'vitest'
import type { TracingPlugin } from '../config/define-config.js'
import { flushTraces } from './tracing.js'

afterEach(() => {
  trace.disable()
  vi.useRealTimers()
})

const plugin = (fields: object): TracingPlugin => ({ name: 'traces', ...fields })

/** A provider that the user has registered. */
function register(forceFlush: () => Promise<void>): void {
  const provider = { getTracer: () => trace.getTracer('test'), forceFlush }
  trace.setGlobalTracerProvider(provider)
}

it('flushes the global provider, the plugin and its span processor, each once', async () => {
  const flush = vi.fn(() => Promise.resolve())
  register(flush)
  expect(
    await flushTraces(plugin({ forceFlush: flush, otelOptions: { spanProcessor: { forceFlush: flush } } })),
  ).toBeUndefined()
  expect(flush).toHaveBeenCalledTimes(3)
})

it('does nothing without tracing, or where nothing can be flushed', async () => {
  expect(await flushTraces(undefined)).toBeUndefined()
  expect(await flushTraces(plugin({ otelOptions: null }))).toBeUndefined()
})

it('says why spans may be lost when the collector refuses them', async () => {
  const refuse = () => Promise.reject(new Error('connect ECONNREFUSED'))
  expect(await flushTraces(plugin({ forceFlush: refuse }))).toMatch(/traces may be incomplete: .*ECONNREFUSED/)
})

it('does not wait longer than 5 s for a collector that does not answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const flushed = flushTraces(plugin({ forceFlush: () => new Promise(() => undefined) }))
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
  vi.advanceTimersByTime(5_000)
  expect(await flushed).toContain('no answer within 5 s')
})
