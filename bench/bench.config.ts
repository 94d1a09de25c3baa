import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

/** A tool without work, so that benchmarks measure the overhead around it. */
const ping = defineTool({
  name: 'ping',
  description: 'Returns its argument.',
  input: z.object({ value: z.number() }),
  output: z.number(),
  effect: 'read',
  run: ({ value }) => Promise.resolve(value),
})

/** A tool with a result of any size, different for each number. */
const blob = defineTool({
  name: 'blob',
  description: 'Returns a text of this many bytes.',
  input: z.object({ bytes: z.int(), number: z.int() }),
  output: z.string(),
  effect: 'read',
  run: ({ bytes, number }) =>
    Promise.resolve(`${number} `.repeat(Math.ceil(bytes / `${number} `.length)).slice(0, bytes)),
})

export default defineConfig({ tools: [ping, blob], sandbox: { backend: 'docker' }, taskQueue: 'bench' })
