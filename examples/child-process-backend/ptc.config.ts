import { defineBackend, defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'
import { ChildProcessBackend } from './backend.js'

const childProcess = defineBackend({
  name: 'child-process',
  notice: 'code runs in child processes without isolation',
  network: true,
  create: () => new ChildProcessBackend(),
})

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.number(),
  effect: 'read',
  run: ({ a, b }) => a + b,
})

export default defineConfig({ tools: [add], sandbox: { backend: childProcess } })
