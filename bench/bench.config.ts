import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

/** As little as a tool can do: what is measured is everything around it. */
const ping = defineTool({
  name: 'ping',
  description: 'Gives its argument back.',
  input: z.object({ value: z.number() }),
  output: z.number(),
  effect: 'read',
  run: ({ value }) => Promise.resolve(value),
})

/** As much as one asks for, and each time something else. */
const blob = defineTool({
  name: 'blob',
  description: 'Gives so many bytes of text.',
  input: z.object({ bytes: z.int(), number: z.int() }),
  output: z.string(),
  effect: 'read',
  run: ({ bytes, number }) =>
    Promise.resolve(`${number} `.repeat(Math.ceil(bytes / `${number} `.length)).slice(0, bytes)),
})

export default defineConfig({ tools: [ping, blob], sandbox: { backend: 'docker' }, taskQueue: 'bench' })
