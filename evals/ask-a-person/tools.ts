import { askHuman, defineTool } from 'durable-ptc'
import { z } from 'zod'

export const tools = [
  askHuman({ name: 'ask_office' }),
  defineTool({
    name: 'book_room',
    description: 'Books a meeting room.',
    input: z.object({ room: z.enum(['Ampere', 'Curie', 'Hopper']), hour: z.int().min(8).max(18) }),
    output: z.string(),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'once',
    run: ({ room, hour }) => `${room} is booked at ${hour}:00`,
  }),
]
