import { expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonValue } from '../../common/json/json.js'
import { defaultLimits } from '../../common/run/limits.js'
import { Credentials } from '../credentials/credentials.js'
import { defineTool } from '../define-tool.js'
import { createRegistry } from '../registry.js'
import { runTool } from './run-tool.js'
import type { ToolContext } from '../tool-context.js'

const value = 'a-secret-value'
const marker = '[credential github]'

/** Runs a tool that declares credential `github`, and returns everything that leaves the tool. */
async function run(
  work: (context: ToolContext) => unknown,
  { source = () => value, output = z.unknown() }: { source?: () => string; output?: z.ZodType } = {},
): Promise<{ readonly result: JsonValue; readonly thrown: unknown; readonly seen: unknown[] }> {
  const seen: unknown[] = []
  const note = (...entry: unknown[]) => void seen.push(...entry)
  const tool = defineTool({
    name: 'look_up',
    description: 'x',
    input: z.object({}),
    output,
    effect: 'read',
    credentials: ['github'],
    run: (_input, context) => work(context),
  })
  const context = {
    signal: new AbortController().signal,
    attempt: 1,
    heartbeat: note,
    log: { debug: note, info: note, warn: note, error: note },
    run: { namespace: 'default', workflowId: 'w', runId: 'r', agent: undefined },
    context: {},
    credentials: new Credentials({ github: source }),
  }
  const position = { turn: 1, cell: 1, index: 1 }
  const call = { tool: 'look_up', caller: 'code_execution', position, idempotencyKey: 'key', arguments: {} } as const
  try {
    const result = await runTool(createRegistry([tool]), call, defaultLimits, context)
    return { result, thrown: undefined, seen }
  } catch (thrown) {
    return { result: null, thrown, seen }
  }
}

const textOf = ({ thrown, seen, result }: Awaited<ReturnType<typeof run>>): string => {
  const { message, stack } = thrown instanceof Error ? thrown : {}
  return JSON.stringify([message, stack, seen, result])
}

it('a tool gets the value of a credential that it declares', async () => {
  let got = ''
  await run(({ credential }) => {
    got = credential('github')
    return null
  })
  expect(got).toBe(value)
})

it('a credential that the tool does not declare is an error of the tool', async () => {
  expect(await run(({ credential }) => credential('gitlab'))).toMatchObject({
    thrown: { code: 'TOOL_FAILED', message: 'look_up declares no credential named gitlab' },
  })
})

it('the value of a credential is replaced in results, heartbeats and log entries', async () => {
  const ran = await run(({ credential, heartbeat, log }) => {
    heartbeat({ url: `https://x/?t=${credential('github')}` })
    log.info(`use ${value}`, { headers: { authorization: `Bearer ${value}` }, error: new Error(value) })
    return [{ [value]: value, other: 1 }]
  })
  expect(ran.result).toEqual([{ [marker]: marker, other: 1 }])
  expect(ran.seen).toMatchObject([
    { url: `https://x/?t=${marker}` },
    `use ${marker}`,
    { headers: { authorization: `Bearer ${marker}` } },
  ])
  expect(textOf(ran)).not.toContain(value)
})

it('the value of a credential is replaced in errors: message, cause, stack, and a cut message', async () => {
  const ran = await run(() => {
    throw new Error(`${'x'.repeat(1_990)}${value}`, { cause: new Error(`denied: ${value}`) })
  })
  expect(ran.thrown).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('[credenti') })
  expect(textOf(ran)).not.toContain(value.slice(0, 8))
})

it('the value of a credential is replaced in the error of a result that breaks the output schema', async () => {
  const ran = await run(() => ({ [value]: value }), { output: z.strictObject({ id: z.int() }) })
  expect(ran.thrown).toMatchObject({ code: 'TOOL_OUTPUT_INVALID', message: expect.stringContaining(marker) })
  expect(textOf(ran)).not.toContain(value)
})

it('a tool with an unreadable credential does not run', async () => {
  let isRun = false
  const ran = await run(() => (isRun = true), { source: () => 'short' })
  expect(ran.thrown).toMatchObject({ code: 'CREDENTIAL_UNAVAILABLE', retryable: true })
  expect(isRun).toBe(false)
})
