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

export default defineConfig({ tools: [ping], sandbox: { backend: 'docker' }, taskQueue: 'bench' })
