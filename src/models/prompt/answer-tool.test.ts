import { expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../common/json/json.js'
import { answerTool } from './answer-tool.js'

it('moves the references of an answer schema that it wraps', () => {
  const nested: z.ZodType = z.lazy(() => z.union([z.string(), z.array(nested)]))
  const { inputSchema } = answerTool(z.toJSONSchema(nested, { io: 'input' }) as JsonObject)
  const checked = z.fromJSONSchema(inputSchema)
  expect(checked.safeParse({ answer: ['a', ['b']] }).success).toBe(true)
  expect(checked.safeParse({ answer: ['a', [1]] }).success).toBe(false)
  expect(checked.safeParse({ answer: [{ answer: 'a' }] }).success).toBe(false)
})
