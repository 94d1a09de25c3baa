import { defineConfig, defineTool } from 'durable-ptc'

const forecast = defineTool({
  name: 'forecast',
  description: 'The next values of a series, by linear regression.',
  // As `pydantic` or another library of the Python worker may print it. A zod schema works as well.
  input: {
    type: 'object',
    properties: {
      values: { type: 'array', items: { type: 'number' }, description: 'In the order of time.' },
      steps: { type: 'integer', minimum: 1, maximum: 100, default: 1, description: 'How many values to forecast.' },
    },
    required: ['values'],
  },
  output: { type: 'array', items: { type: 'number' } },
  effect: 'read',
  timeout: '30s',
  activity: { taskQueue: 'forecasts' },
})

export default defineConfig({ tools: [forecast] })
