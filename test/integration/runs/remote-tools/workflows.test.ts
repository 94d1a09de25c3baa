import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../../src/index.js'
import { startOtherWorker } from '../../../support/environment/other-worker.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'

const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url))
const taskQueue = uniqueName('elsewhere')
const any = z.looseObject({})
const read = { description: 'Of a test.', effect: 'read', input: any, output: any } as const
const once = { ...read, effect: 'once' } as const
const nothing = { ...read, output: z.null() }

const tools = [
  defineTool({ ...read, name: 'review', workflow: { type: 'review', taskQueue } }),
  defineTool({ ...read, name: 'review_call', workflow: { type: 'review', taskQueue, passCall: true } }),
  defineTool({ ...nothing, name: 'failing', workflow: { type: 'failing', taskQueue } }),
  defineTool({ ...once, name: 'failing_once', workflow: { type: 'failing', taskQueue } }),
  defineTool({ ...nothing, name: 'endless', workflow: { type: 'endless', taskQueue } }),
  defineTool({ ...nothing, name: 'too_long', timeout: '1s', workflow: { type: 'endless', taskQueue } }),
]

const attempt = `
async def attempt(call):
    try:
        return await call
    except Exception as error:
        return f"{type(error).__name__}: {error}"
`

let env: TestEnvironment
const cleanups: (() => Promise<void>)[] = []
const onCleanup = (end: () => Promise<void>): void => void cleanups.push(end)
beforeAll(async () => {
  env = await TestEnvironment.start({ tools, onCleanup })
  await startOtherWorker({ taskQueue, workflowsPath }, onCleanup)
})
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

it('a workflow of another worker is a tool: its result, failures and timeout are outcomes', async () => {
  const { outcome } = await env.runProgram(`${attempt}
print(await review(text="a"))
print((await review_call(text="b"))["call"]["caller"])
for kind in ["Budget", "ToolError"]:
    print(await attempt(failing(kind=kind)))
    print(await attempt(failing_once(kind=kind)))
print(await attempt(too_long()))`)
  expect(outcome.output.trimEnd().split('\n')).toEqual([
    "{'verdict': 'A', 'call': None}",
    'code_execution',
    'ToolError: failing: Budget: no Budget',
    expect.stringMatching(/^ToolOutcomeUnknown: failing_once may or may not have happened: Budget: no Budget\./),
    'ToolError: no ToolError',
    'ToolError: no ToolError',
    expect.stringMatching(/^ToolTimedOut: too_long: task queue .* did not answer within 1 second/),
  ])
  const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(tree.turns[0]?.cells[0]?.calls.map(({ tool, status, attempts }) => [tool, status, attempts])).toEqual([
    ['review', 'ok', 1],
    ['review_call', 'ok', 1],
    ['failing', 'tool_error', 1],
    ['failing_once', 'outcome_unknown', 1],
    ['failing', 'tool_error', 1],
    ['failing_once', 'tool_error', 1],
    ['too_long', 'timed_out', 1],
  ])
})

it('a cancelled run cancels the workflow of its call', async () => {
  const handle = await env.startProgram('await endless()')
  const child = async () => (await handle.describe()).raw.pendingChildren?.[0]?.workflowId ?? ''
  await expect.poll(child, pollOptions).toMatch(/^endless-[0-9a-f]{32}$/)
  const childHandle = env.client.workflow.getHandle(await child())
  await handle.cancel()
  await expect(handle.result()).rejects.toThrow()
  await expect.poll(async () => (await childHandle.describe()).status.name, pollOptions).toBe('CANCELLED')
})
