import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool } from '../../../test/support/tools.js'
import { refOf } from '../../common/json/external-value.js'
import type { JsonValue } from '../../common/json/json.js'
import { defineTool } from '../../tools/index.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { recordToolSet } from '../../tools/sources/tool-set.js'
import { checkToolResult } from './check-tool-result.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))
const { signal } = new AbortController()

const review = z.object({ approved: z.boolean(), note: z.string().min(2).optional() })
const approve = (output: z.ZodType) =>
  defineTool({
    name: 'approve',
    description: 'Asks for an approval.',
    input: z.object({}),
    output,
    effect: 'idempotent',
    activity: { taskQueue: 'reviews' },
  })

const recorded = createRegistry([approve(review.refine(({ note }) => note !== 'no'))])
/** Workers of later deployments: with an additional tool, with a changed tool, and without the tool. */
const sameTool = createRegistry([approve(review.refine(({ note }) => note !== 'no')), tool('other', () => null)])
const changedTool = createRegistry([approve(z.object({ verdict: z.string() }))])
const withoutTool = createRegistry([tool('other', () => null)])

async function check(registry: typeof recorded, value: JsonValue, resultBytes = 100_000) {
  const tools = await recordToolSet(recorded, values, signal)
  const input = { tool: 'approve', position: { turn: 0, cell: 1, index: 1 }, value, tools, resultBytes }
  const checked = new MockActivityEnvironment().run(() => checkToolResult({ registry, values })(input))
  return checked.catch((thrown: unknown) => thrown)
}

describe.each([
  ['the worker that recorded the tools', recorded],
  ['a worker with the same tool among others', sameTool],
  ['a worker with a changed tool', changedTool],
  ['a worker without the tool', withoutTool],
])('on %s', (_, registry) => {
  it('a result that matches the recorded schema is returned', async () => {
    expect(await check(registry, { approved: true, note: 'ok' })).toEqual({ approved: true, note: 'ok' })
  })

  it('a result that does not match the recorded schema is rejected without retries', async () => {
    expect(await check(registry, { approved: 'yes' })).toMatchObject({
      type: 'TOOL_OUTPUT_INVALID',
      nonRetryable: true,
      message: expect.stringMatching(/the result of approve does not fit its output schema:\n.*approved/s),
    })
    expect(await check(registry, { approved: true, note: '-' })).toMatchObject({ type: 'TOOL_OUTPUT_INVALID' })
  })

  it('a result over the limit of the run is rejected', async () => {
    const value = { approved: true, note: 'n'.repeat(200) }
    expect(await check(registry, value, 100)).toMatchObject({ type: 'TOOL_RESULT_TOO_LARGE', nonRetryable: true })
  })
})

it("a worker with the recorded tool applies the tool's own checks to a result", async () => {
  const value = { approved: true, note: 'no' }
  expect(await check(sameTool, value)).toMatchObject({ type: 'TOOL_OUTPUT_INVALID' })
  expect(await check(withoutTool, value)).toEqual(value)
})

it('a large checked result is externalized', async () => {
  const checked = await check(recorded, { approved: true, note: 'n'.repeat(10_000) })
  expect(refOf(checked as JsonValue)?.bytes).toBeGreaterThan(10_000)
})

it('the result of a tool that the run does not have is rejected', async () => {
  const tools = await recordToolSet(withoutTool, values, signal)
  const input = { tool: 'approve', position: { turn: 0, cell: 1, index: 1 }, value: null, tools, resultBytes: 100 }
  await expect(
    new MockActivityEnvironment().run(() => checkToolResult({ registry: recorded, values })(input)),
  ).rejects.toMatchObject({ type: 'TOOL_UNKNOWN', nonRetryable: true })
})
