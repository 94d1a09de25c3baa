import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'

it('completes', async () => {
  const tokens: string[] = []
  const approve = defineTool({
    name: 'approve',
    description: 'Asks for an approval.',
    input: z.object({ amount: z.number() }),
    output: z.object({ approved: z.boolean() }),
    effect: 'idempotent',
    deferred: { expires: '3d' },
    run: (_input, { completionToken }) => void tokens.push(completionToken),
  })
  const env = await TestEnvironment.start({ tools: [approve], backend: 'wasm' })
  const handle = await env.startProgram('print((await approve(amount=3))["approved"])')
  await expect.poll(() => tokens.length).toBe(1)
  const [token = ''] = tokens
  await expect(env.ptc.completeCall(token, { approved: 'x' })).rejects.toMatchObject({ code: 'TOOL_OUTPUT_INVALID' })
  await env.ptc.completeCall(token, { approved: true })
  expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: 'True\n' } })
  await env.expectCleanEnd(handle)
})
