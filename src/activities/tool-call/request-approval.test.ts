import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, expect, it } from 'vitest'
import { z } from 'zod'
import { approvalKey, type RequestApprovalInput } from '../../common/calls/approvals.js'
import type { JsonObject } from '../../common/json/json.js'
import { defineTool } from '../../tools/index.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { requestApproval } from './request-approval.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))

const registry = createRegistry([
  defineTool({
    name: 'pay',
    description: 'x',
    input: z.object({ to: z.string().regex(/^(a+)+$/), euros: z.int() }),
    output: z.null(),
    effect: 'once',
    approval: ({ euros }) => euros > 100,
    run: () => null,
  }),
  defineTool({
    name: 'send',
    description: 'x',
    input: z.object({ to: z.string(), text: z.string() }),
    output: z.null(),
    effect: 'once',
    approval: { remember: ({ to }) => to },
    run: () => null,
  }),
])

function request(args: JsonObject, more: Partial<RequestApprovalInput> = {}): Promise<unknown> {
  const input = {
    tool: 'pay',
    arguments: args,
    summary: 'pay',
    caller: 'code_execution',
    idempotencyKey: approvalKey('key'),
    deferred: { firstExecutionRunId: 'a', key: 'b' },
    expiresMs: 1_000,
    position: { turn: 0, cell: 1, index: 1 },
    ...more,
  } as unknown as RequestApprovalInput
  return new MockActivityEnvironment().run(() => requestApproval({ registry, values })(input))
}

it('approval is requested for a call with valid arguments when the rule of its tool requires it', async () => {
  expect(await request({ to: 'a', euros: 5 })).toEqual({ isNeeded: false })
  expect(await request({ to: 'a', euros: 999 })).toEqual({ isNeeded: true })
})

it('no approval is requested for a call that its tool refuses for certain', async () => {
  expect(await request({ to: 'a', euros: 'many' })).toEqual({ isNeeded: false })
})

it('approval is requested for arguments that take too long to check: another worker may accept them', async () => {
  expect(await request({ to: `${'a'.repeat(60)}!`, euros: 999 })).toEqual({ isNeeded: true })
})

it('a remembered approval covers the calls that the tool names', async () => {
  const send = (to: string, remembered?: readonly string[]) =>
    request({ to, text: 'x' }, { tool: 'send', ...(remembered && { remembered }) })
  expect(await send('ada')).toEqual({ isNeeded: true, rememberAs: 'ada' })
  expect(await send('ada', ['ada'])).toEqual({ isNeeded: false })
  expect(await send('mallory', ['ada'])).toEqual({ isNeeded: true, rememberAs: 'mallory' })
  expect(await send('x'.repeat(201))).toEqual({ isNeeded: true })
})
