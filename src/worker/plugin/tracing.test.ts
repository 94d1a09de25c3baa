import { trace } from '@opentelemetry/api'
import { afterEach, expect, it, vi } from 'vitest'
import type { TracingPlugin } from '../../config/define-config.js'
import { flushTraces } from './tracing.js'

afterEach(() => {
  trace.disable()
  vi.useRealTimers()
})

const plugin = (fields: object): TracingPlugin => ({ name: 'traces', ...fields })

/** Registers a provider as a user does. */
function register(forceFlush: () => Promise<void>): void {
  const provider = { getTracer: () => trace.getTracer('test'), forceFlush }
  trace.setGlobalTracerProvider(provider)
}

it('flushes the global provider, the plugin and its span processor once each', async () => {
  const flush = vi.fn(() => Promise.resolve())
  register(flush)
  expect(
    await flushTraces(plugin({ forceFlush: flush, otelOptions: { spanProcessor: { forceFlush: flush } } })),
  ).toBeUndefined()
  expect(flush).toHaveBeenCalledTimes(3)
})

it('flushing does nothing without tracing, and without a function that flushes', async () => {
  expect(await flushTraces(undefined)).toBeUndefined()
  expect(await flushTraces(plugin({ otelOptions: null }))).toBeUndefined()
})

it('says why spans may be lost when the collector refuses them', async () => {
  const refuse = () => Promise.reject(new Error('connect ECONNREFUSED'))
  expect(await flushTraces(plugin({ forceFlush: refuse }))).toMatch(/traces may be incomplete: .*ECONNREFUSED/)
})

it('flushing waits at most 5 s for a collector that does not answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const flushed = flushTraces(plugin({ forceFlush: () => new Promise(() => undefined) }))
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1))
  vi.advanceTimersByTime(5_000)
  expect(await flushed).toContain('no answer within 5 s')
})
