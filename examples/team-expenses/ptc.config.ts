import { defineConfig } from 'durable-ptc'
import { tools } from './tools.js'

export default defineConfig({
  tools,
  model: { name: 'claude-sonnet-4-6' },
  sandbox: { backend: 'auto' },
})
