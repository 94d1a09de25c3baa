import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Failpoint } from '../../../src/common/failpoint.js'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { temporaryFolder } from '../../support/folders.js'
import { noModel } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'

const config = fileURLToPath(new URL('../../fixtures/mcp/mcp.config.ts', import.meta.url))

/** Calls of a server whose tool may be repeated (`again`), and of one whose tool may not (`odd`). */
const program = `
import asyncio
print(await again__write(id="a"))
try: print(await odd__write(id="b"))
except ToolOutcomeUnknown: print("unknown b")
print(await asyncio.gather(again__write(id="c"), again__write(id="d")))
try: print(await odd__write(id="e"))
except ToolOutcomeUnknown: print("unknown e")
`

interface Executed {
  readonly args: { readonly id: string }
  readonly key: string
}

const crashesOf = (point: Failpoint, hits: readonly number[]): [string, readonly Crash[]][] =>
  hits.map((hit) => [`${point}, hit ${hit}`, [{ point, hit }]])

it.each<[string, readonly Crash[]]>([
  ...crashesOf('tool.begins', [1, 2, 3, 5]),
  ...crashesOf('tool.ran', [1, 2, 3, 5]),
  ...crashesOf('tool.ends', [1, 2, 4, 5]),
  ...crashesOf('step.begins', [1, 2]),
  ...crashesOf('step.ends', [1]),
  [
    'tool.ran, hit 2, and again at its next hit',
    [
      { point: 'tool.ran', hit: 2 },
      { point: 'tool.ran', hit: 1 },
    ],
  ],
])('calls of MCP tools have the effects that they promise when a worker is killed at %s', async (_, crashes) => {
  const folder = await temporaryFolder()
  const ledger = join(folder, 'calls.jsonl')
  const { env, deaths } = await startCrashingWorkers(crashes, {
    config,
    script: noModel,
    store: join(folder, 'values'),
    environment: { TEST_LEDGER: ledger },
  })
  const handle = await env.startProgram(program)
  const { outcome } = (await handle.result()) as ProgramResult
  expect(deaths()).toBe(crashes.length)
  expect(outcome.status).toBe('ok')
  const output = 'output' in outcome ? outcome.output : ''
  const lines = output.split('\n')
  expect(lines[0]).toBe('wrote a')
  expect(lines[2]).toBe("['wrote c', 'wrote d']")
  const executed = (existsSync(ledger) ? readFileSync(ledger, 'utf8') : '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Executed)
  const of = (id: string) => executed.filter(({ args }) => args.id === id)
  for (const id of ['a', 'c', 'd']) {
    expect(of(id).length).toBeGreaterThanOrEqual(1)
    expect(of(id).length).toBeLessThanOrEqual(1 + crashes.length)
  }
  for (const [id, line] of [
    ['b', lines[1]],
    ['e', lines[3]],
  ] as const) {
    expect([`wrote ${id}`, `unknown ${id}`]).toContain(line)
    expect(of(id).length).toBeLessThanOrEqual(1)
    if (line === `wrote ${id}`) expect(of(id)).toHaveLength(1)
  }
  // All attempts at a call have its key, and no other call has it.
  const keys = new Set(executed.map(({ args, key }) => `${args.id} ${key}`))
  expect(keys.size).toBe(new Set(executed.map(({ args }) => args.id)).size)
  expect(new Set(executed.map(({ key }) => key)).size).toBe(keys.size)
  await env.expectCleanEnd(handle)
})
