import { Context } from '@temporalio/activity'
import { Client } from '@temporalio/client'
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common'
import type { ActivityInterceptorsFactory, WorkerOptions } from '@temporalio/worker'
import { describe, expect } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { ActivityCommands } from '../../support/temporal/activity-commands.js'
import { sharedServer, temporalTest as test } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'

const once = { execution: 'local', effect: 'once' } as const

/** Heartbeats of an interceptor of the user come all the time, through the SDK. */
const heartbeating: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      const timer = setInterval(() => Context.current().heartbeat({ of: 'the user' }), 20)
      try {
        return await next(input)
      } finally {
        clearInterval(timer)
      }
    },
  },
})

/** A codec of a user that stands for encryption. */
const invertingCodec: PayloadCodec = {
  encode: (payloads) => Promise.resolve(payloads.map(invert)),
  decode: (payloads) => Promise.resolve(payloads.map(invert)),
}

function invert(payload: Payload): Payload {
  return mask(payload, 255)
}

/** A codec of a user with a key for each activity. */
const bindingCodec: PayloadCodec = {
  encode: (payloads, context) => Promise.resolve(payloads.map((payload) => mask(payload, keyOf(context)))),
  decode: (payloads, context) => Promise.resolve(payloads.map((payload) => mask(payload, keyOf(context)))),
}

function keyOf(context: SerializationContext | undefined): number {
  if (context?.type !== 'activity') return 0
  const { workflowId, activityId, isLocal } = context
  return Buffer.from(JSON.stringify([workflowId, activityId, isLocal])).reduce((sum, byte) => (sum + byte) % 255, 0) + 1
}

function mask({ metadata, data }: Payload, key: number): Payload {
  return { metadata: metadata ?? {}, data: (data ?? new Uint8Array()).map((byte) => byte ^ key) }
}

describe("local calls with effects in a user's own worker", () => {
  test.for<[string, Partial<WorkerOptions>, blockedMs?: number]>([
    ['an interceptor that sends heartbeats', { interceptors: { activity: [heartbeating] } }],
    ['a codec', { dataConverter: { payloadCodecs: [invertingCodec] } }],
    ['a codec that depends on the activity', { dataConverter: { payloadCodecs: [bindingCodec] } }],
    // In the block, the watchdog thread sends a heartbeat, which has the last details.
    [
      'a codec and a block of the event loop',
      { dataConverter: { payloadCodecs: [invertingCodec, bindingCodec] } },
      3_000,
    ],
    ['frequent heartbeats', { maxHeartbeatThrottleInterval: '10ms', defaultHeartbeatThrottleInterval: '10ms' }],
  ])(
    'a lost attempt leaves its results to the next one, with %s',
    async ([, options, blockedMs = 0], { taskQueue }) => {
      const called = new Deferred()
      const released = new Deferred<string>()
      const made: string[] = []
      const tools = [
        tool('mark', () => made.push('mark'), once),
        tool(
          'hold',
          () => {
            made.push('hold')
            for (const end = Date.now() + blockedMs; Date.now() < end;);
            called.resolve()
            return released.promise
          },
          once,
        ),
      ]
      const plugin = await createPlugin({ tools })
      const connection = await connect({ plugins: [plugin] })
      const activities = { greet: (name: string) => Promise.resolve(`Hello, ${name}`) }
      const worker = await createWorker({ connection, taskQueue, activities, ...options })
      const { dataConverter = {} } = options
      const { namespace } = sharedServer()
      const client = new Client({ connection, namespace, dataConverter, plugins: [plugin] })
      const ptc = createPtcClient({ client, taskQueue })
      const source = `
done = [await mark()]
try:
    done.append(await hold())
except ToolOutcomeUnknown:
    done.append('unknown')
print(done, await mark())`
      const result = await worker.runUntil(async () => {
        const run = await ptc.startProgram({ source })
        await called.promise
        const commands = new ActivityCommands({ client, handle: client.workflow.getHandle(run.workflowId) })
        // The codecs: details that are stored, or sent by the thread, not those of a later heartbeat.
        if (options.dataConverter === undefined) await commands.waitForHeartbeat()
        await commands.loseAttempts()
        const ended = await run.result()
        released.resolve('late')
        return ended
      })
      expect(result).toMatchObject({ outcome: { status: 'ok', output: "[1, 'unknown'] 3\n" }, toolCalls: 3 })
      expect(made).toEqual(['mark', 'hold', 'mark'])
    },
  )
})
