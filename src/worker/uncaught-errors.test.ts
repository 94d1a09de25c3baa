import { EventEmitter } from 'node:events'
import { createReadStream, readFile } from 'node:fs'
import { connect } from 'node:net'
import { PassThrough, Transform } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { withoutRunnerListeners } from '../../test/support/uncaught-errors.js'
import { rejectOnUncaught } from '../common/async/uncaught-errors.js'
import { messageOf } from '../common/errors.js'
import type { ModelRequest } from '../models/provider.js'
import { ModelProviders } from '../models/providers.js'
import { defineTool } from '../tools/define-tool.js'
import { describeCall } from '../tools/calls/describe-call.js'
import { createRegistry } from '../tools/registry.js'
import { installRuntime } from './runtime.js'
import { handleUncaughtErrors } from './uncaught-errors.js'

installRuntime('ERROR', () => undefined)

/** Handles errors until the end of the test; returns those that belonged to no work. */
function handle(): unknown[] {
  withoutRunnerListeners()
  const unattributed: unknown[] = []
  onTestFinished(handleUncaughtErrors((thrown) => unattributed.push(thrown)))
  return unattributed
}

const never = () => new Promise<never>(() => undefined)

function broken(): never {
  throw new Error('broken')
}

const sources: Readonly<Record<string, () => void>> = {
  'a rejected promise': () => void Promise.reject(new Error('broken')),
  'an asynchronous function that is not awaited': () => void delay(1).then(broken),
  'a promise of Promise.all that rejects after another': () => void Promise.all([delay(1).then(broken), never()]),
  'the callback of setTimeout': () => void setTimeout(broken, 1),
  'the callback of setInterval': () => {
    const timer = setInterval(() => {
      clearInterval(timer)
      broken()
    }, 1)
  },
  'the callback of setImmediate': () => void setImmediate(broken),
  'the callback of process.nextTick': () => process.nextTick(broken),
  'a microtask': () => queueMicrotask(broken),
  'a microtask of a microtask': () => queueMicrotask(() => queueMicrotask(broken)),
  'a promise that a timer rejects': () => void setTimeout(() => void Promise.reject(new Error('broken')), 1),
  'the callback of a file': () => readFile('/broken', broken),
  'a stream without a listener': () => void createReadStream('/broken'),
  'a callback of a stream': () => void new Transform({ transform: broken }).write('x'),
  'a listener of a stream': () => void new PassThrough().on('data', broken).write('x'),
  'a socket without a listener': () => void connect('/broken.sock'),
  'an error event without a listener': () => {
    const emitter = new EventEmitter()
    setTimeout(() => emitter.emit('error', new Error('broken')), 1)
  },
  'a listener of an event target': () => {
    const target = new EventTarget()
    target.addEventListener('x', broken)
    target.dispatchEvent(new Event('x'))
  },
  'fetch without a catch': () => void fetch('http://127.0.0.1:1/broken').catch((cause) => broken.call(cause)),
}

describe('uncaught errors', () => {
  it.each(Object.entries(sources))(
    'an uncaught error of %s fails its own work and no other',
    async (_source, start) => {
      const unattributed = handle()
      const other = rejectOnUncaught({ name: 'other' }, () => delay(100, 'done'))
      await expect(
        rejectOnUncaught({ name: 'work' }, () => {
          start()
          return never()
        }),
      ).rejects.toThrow('broken')
      expect(await other).toBe('done')
      expect(unattributed).toEqual([])
    },
  )
})

const unreadable = new Proxy({}, { get: broken, has: broken, getPrototypeOf: broken, ownKeys: broken })

describe('rejected promises', () => {
  it.each([undefined, null, '', 'cut \ud83d', 7n, Symbol('x'), Object.create(null), unreadable])(
    'a promise that rejects with a value that is not an error fails its work (%#)',
    async (reason) => {
      const unattributed = handle()
      const work = rejectOnUncaught({ name: 'work' }, () => {
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors
        void Promise.reject(reason)
        return never()
      })
      await expect(work.catch(messageOf)).resolves.toEqual(expect.any(String))
      expect(unattributed).toEqual([])
    },
  )
})

describe('an uncaught error', () => {
  it('an uncaught error belongs to the innermost work', async () => {
    handle()
    const outer = rejectOnUncaught({ name: 'outer' }, async () => {
      const inner = rejectOnUncaught({ name: 'inner' }, () => {
        setTimeout(broken, 1)
        return never()
      })
      return inner.catch(messageOf)
    })
    expect(await outer).toBe('broken')
  })

  it('an uncaught error after the end of its work has no effect', async () => {
    const unattributed = handle()
    const work = rejectOnUncaught({ name: 'work' }, () => {
      setTimeout(broken, 5)
      return 'done'
    })
    expect(await work).toBe('done')
    await delay(20)
    expect(unattributed).toEqual([])
  })

  it('an uncaught error of an asynchronous check or summary of a tool does not fail the engine', async () => {
    const unattributed = handle()
    const rejects = async (): Promise<never> => broken()
    const declared = { description: 'x', output: z.null(), effect: 'read', run: () => null } as const
    const registry = createRegistry([
      defineTool({ ...declared, name: 'checked', input: z.object({ id: z.string().refine(rejects) }) }),
      defineTool({ ...declared, name: 'shown', input: z.object({}), summary: rejects as never }),
    ])
    const turn = rejectOnUncaught({ name: 'activity', isEngine: true }, async () => {
      for (const [tool, args] of Object.entries({ checked: { id: 'a' }, shown: {} }))
        describeCall(registry, { argumentBytes: 1_000 }, { tool, arguments: args }, 'direct', true)
      return delay(20, 'done')
    })
    expect(await turn).toBe('done')
    expect(unattributed).toEqual([])
  })

  it('of a model provider fails its call, and nothing after the end of the call', async () => {
    const unattributed = handle()
    const request: ModelRequest = { model: 'm', maxTokens: 10, system: '', tools: [], messages: [] }
    const options = { signal: new AbortController().signal, onProgress: () => undefined }
    /** What a worker gets of a provider whose calls end in this way after they have begun to fail. */
    const callsOf = (end: () => Promise<unknown>) => {
      const start = async (): Promise<never> => {
        setTimeout(broken, 5)
        return (await end()) as never
      }
      const providers = new ModelProviders({ mine: { turn: start, countTokens: start, close: async () => undefined } })
      return (['turn', 'countTokens'] as const).map((method) =>
        rejectOnUncaught({ name: 'activity', isEngine: true }, async () => {
          await providers[method]('mine', request, options)
          return 'done'
        }),
      )
    }
    for (const call of callsOf(never))
      await expect(call).rejects.toMatchObject({ code: 'UNCAUGHT_ERROR', message: expect.stringContaining('broken') })
    expect(await Promise.all(callsOf(async () => ({ content: [] })))).toEqual(['done', 'done'])
    await delay(20)
    expect(unattributed).toEqual([])
  })

  it('that comes after the end of work of the engine is unattributed', async () => {
    const unattributed = handle()
    await rejectOnUncaught({ name: 'work', isEngine: true }, () => void setTimeout(broken, 5))
    await vi.waitUntil(() => unattributed.length > 0)
    expect(unattributed.map(messageOf)).toEqual(['broken'])
  })

  it('an uncaught error of no work is unattributed', async () => {
    const unattributed = handle()
    setTimeout(broken, 1)
    setTimeout(() => void Promise.reject(new Error('rejected')), 5)
    await vi.waitUntil(() => unattributed.length > 1)
    expect(unattributed.map(messageOf)).toEqual(['broken', 'rejected'])
  })
})

describe('listeners of a user', () => {
  it('an uncaught error fails its work, and calls the listeners of a user as Node does', async () => {
    withoutRunnerListeners()
    onTestFinished(handleUncaughtErrors())
    const seen: string[] = []
    process.on('unhandledRejection', (reason) => seen.push(`rejection: ${messageOf(reason)}`))
    process.on('uncaughtException', (thrown) => seen.push(`exception: ${messageOf(thrown)}`))
    const start = (run: () => void) =>
      rejectOnUncaught({ name: 'work' }, () => {
        run()
        return never()
      })
    await expect(start(() => void Promise.reject(new Error('one')))).rejects.toThrow('one')
    await expect(start(() => void setTimeout(broken, 1))).rejects.toThrow('broken')
    void Promise.reject(new Error('other'))
    setTimeout(broken, 1)
    await vi.waitUntil(() => seen.length > 3)
    expect(seen).toEqual(['rejection: one', 'exception: broken', 'rejection: other', 'exception: broken'])
  })

  it('adds no listener when the user has none, and leaves none', () => {
    withoutRunnerListeners()
    const names = () =>
      [
        'uncaughtException',
        'unhandledRejection',
        'uncaughtExceptionMonitor',
        'exit',
        'newListener',
        'removeListener',
      ].map((name) => process.listenerCount(name))
    const before = names()
    const stop = handleUncaughtErrors()
    const stopOther = handleUncaughtErrors()
    expect(names().slice(0, 2)).toEqual([0, 0])
    const listener = () => undefined
    process.on('unhandledRejection', listener)
    expect(process.listenerCount('unhandledRejection')).toBe(2)
    process.off('unhandledRejection', listener)
    expect(process.listenerCount('unhandledRejection')).toBe(0)
    stop()
    stop()
    expect(process.listenerCount('uncaughtExceptionMonitor')).toBe(before[2]! + 1)
    stopOther()
    expect(names()).toEqual(before)
  })
})
