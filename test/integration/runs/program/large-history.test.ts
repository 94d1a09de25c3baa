import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'

const megabyte = defineTool({
  name: 'megabyte',
  description: 'A large text.',
  input: z.object({}),
  output: z.string(),
  effect: 'read',
  run: () => 'x'.repeat(1_000_000),
})

it('a history of many megabytes can be read, as `ptc show` does', async () => {
  const env = await TestEnvironment.start({ tools: [megabyte] })
  const handle = await env.startProgram('print(sum([len(await megabyte()) for _ in range(6)]))')
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '6000000\n' } })
  const { events } = await handle.fetchHistory()
  expect(events?.at(-1)?.workflowExecutionCompletedEventAttributes).toBeDefined()
})
