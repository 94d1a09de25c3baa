import { setTimeout as pause } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const echo = {
  description: 'Returns its argument.',
  input: z.object({ value: z.number() }),
  output: z.number(),
  effect: 'read',
  run: ({ value }: { readonly value: number }) => Promise.resolve(value),
} as const

/** A tool without work, so that benchmarks measure the overhead around it. */
const ping = defineTool({ ...echo, name: 'ping' })

/** The same tool with local execution. */
const look = defineTool({ ...echo, name: 'look', execution: 'local' })

/** A local tool with an effect that may be repeated, and one whose effect may not. */
const mark = defineTool({ ...echo, name: 'mark', effect: 'idempotent', execution: 'local' })
const markOnce = defineTool({ ...echo, name: 'mark_once', effect: 'once', execution: 'local' })

/** The same tool with a limit over the whole fleet. */
const pingSingly = defineTool({ ...echo, name: 'ping_singly', concurrency: 1 })

/** The last call of a program: marks the end of the measured calls in the history. */
const finish = defineTool({
  name: 'finish',
  description: 'Ends the measurement.',
  input: z.object({}),
  output: z.null(),
  effect: 'read',
  run: () => Promise.resolve(null),
})

/** A tool that takes 20 ms. */
const work = defineTool({
  name: 'work',
  description: 'Works for 20 ms.',
  input: z.object({}),
  output: z.null(),
  effect: 'idempotent',
  run: (_input, { signal }) => pause(20, null, { signal }),
})

/** A local read that takes 20 ms. */
const query = defineTool({
  name: 'query',
  description: 'Reads for 20 ms.',
  input: z.object({}),
  output: z.null(),
  effect: 'read',
  execution: 'local',
  run: (_input, { signal }) => pause(20, null, { signal }),
})

/** A local tool with an effect that takes 20 ms. */
const save = defineTool({
  name: 'save',
  description: 'Saves for 20 ms.',
  input: z.object({}),
  output: z.null(),
  effect: 'idempotent',
  execution: 'local',
  run: (_input, { signal }) => pause(20, null, { signal }),
})

export default defineConfig({
  tools: [ping, look, mark, markOnce, pingSingly, work, query, save, finish],
  sandbox: { backend: 'docker' },
  taskQueue: 'bench',
})
