import { setTimeout as pause } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

/*
 * Configuration of workers that have their own processes. Variables: `BENCH_VALUES` is the folder of the value store,
 * `BENCH_URL` the address of the tool service in the benchmark's process (`support/tool-service.ts`).
 */

/** Requests the tool service. Waits for the text of its reply. */
async function request(path: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${process.env['BENCH_URL']}/${path}`, { signal })
  return response.text()
}

const echo = {
  description: 'Returns its argument.',
  input: z.object({ value: z.number() }),
  output: z.number(),
  run: ({ value }: { readonly value: number }) => Promise.resolve(value),
} as const

/** A tool without work. */
const ping = defineTool({ ...echo, name: 'ping', effect: 'read' })

/** A local tool with an effect, without work. */
const localEffect = defineTool({ ...echo, name: 'local_effect', effect: 'idempotent', execution: 'local' })

/** A tool that returns when the benchmark opens the gate. */
const gate = defineTool({
  name: 'gate',
  description: 'Waits for a gate.',
  input: z.object({ name: z.string() }),
  output: z.null(),
  effect: 'idempotent',
  timeout: '10m',
  run: async ({ name }, { signal }) => {
    await request(`gate/${name}`, signal)
    return null
  },
})

/** A tool that takes 20 ms, and tells the benchmark the process of each attempt. */
const work = defineTool({
  name: 'work',
  description: 'Works for a while; returns whether there is more to do.',
  input: z.object({}),
  output: z.boolean(),
  effect: 'idempotent',
  run: async (_input, { signal }) => {
    const [reply] = await Promise.all([request(`work/${process.pid}`, signal), pause(20, undefined, { signal })])
    return reply === 'more'
  },
})

/** Local calls with effects that take 20 ms, and tell the benchmark their effect and their process. */
const marks = (['idempotent', 'once'] as const).map((effect) => {
  const name = effect === 'once' ? 'mark_once' : 'mark'
  return defineTool({
    name,
    description: 'Has an effect.',
    input: z.object({ name: z.string() }),
    output: z.null(),
    effect,
    execution: 'local',
    run: async (input, { idempotencyKey, signal }) => {
      const path = [name, input.name, encodeURIComponent(idempotencyKey), process.pid].join('/')
      await Promise.all([request(path, signal), pause(20, undefined, { signal })])
      return null
    },
  })
})

const directory = process.env['BENCH_VALUES']

export default defineConfig({
  tools: [ping, localEffect, gate, work, ...marks],
  sandbox: { backend: 'docker' },
  taskQueue: 'bench',
  ...(directory === undefined ? {} : { values: { store: { kind: 'local', directory } } }),
  limits: { callsPerCell: 100_000, callsPerRun: 100_000 },
  // A session that waits for a gate is not parked.
  timeouts: { park: '10m' },
})
