import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, ToolError } from '../../../src/index.js'
import { answerResult } from '../../support/script.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { secret } from './leak-tools.js'

it('the report of compensations has no text of a tool whose data the answer may not have', async () => {
  const book = defineTool({
    name: 'book',
    description: 'Books.',
    input: z.object({}),
    output: z.string(),
    effect: 'once',
    labels: ['pii'],
    run: () => 'booked',
    compensate: () => {
      throw new ToolError(`no booking of ${secret}`)
    },
  })
  const dataFlow = { rules: [{ labels: ['pii'], answer: true as const, action: 'deny' as const }] }
  const env = await TestEnvironment.start({ tools: [book], dataFlow, script: [answerResult] })
  const result = await env.runProgram("await book()\nraise ValueError('x')")
  expect(result).toMatchObject({ compensation: { failed: 1 } })
  expect(JSON.stringify(result)).not.toContain(secret)
})
