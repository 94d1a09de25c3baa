import { defineTool } from 'durable-ptc'
import { z } from 'zod'

export const tools = [
  defineTool({
    name: 'sensor_readings',
    description: 'All readings of the year: 30,000 objects with sensor, hour and value.',
    input: z.object({}),
    output: z.array(z.object({ sensor: z.string(), hour: z.int(), value: z.int() })),
    allowedCallers: ['code_execution'],
    effect: 'read',
    run: () =>
      Array.from({ length: 30_000 }, (_, index) => ({
        sensor: `sensor-${String(index % 7).padStart(3, '0')}`,
        hour: Math.floor(index / 7),
        value: (index * 7_919) % 1_009,
      })),
  }),
]
