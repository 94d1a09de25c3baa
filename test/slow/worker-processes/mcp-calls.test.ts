import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { pollOptions } from '../../support/poll-options.js'
import { noModel } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/mcp/mcp.config.ts', import.meta.url))

interface ExecutedCall {
  readonly args: { readonly id: string }
  readonly key: string
}

async function start() {
  const folder = await temporaryFolder()
  const ledger = join(folder, 'calls.jsonl')
  const env = await TestEnvironment.startProcesses({
    script: noModel,
    config,
    environment: { TEST_LEDGER: ledger, TEST_VALUES: join(folder, 'values') },
  })
  const executed = (id: string): readonly ExecutedCall[] =>
    existsSync(ledger)
      ? readFileSync(ledger, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as ExecutedCall)
          .filter(({ args }) => args.id === id)
      : []
  return { env, executed }
}

it('a call of an MCP tool that may be repeated is repeated with its key when its worker is killed', async () => {
  const { env, executed } = await start()
  const handle = await env.startProgram('print(await again__write(id="before"))\nprint(await again__write(id="waits"))')
  await expect.poll(() => executed('waits'), pollOptions).toHaveLength(1)
  await env.workers.kill()
  await env.workers.start()
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: 'wrote before\nwaited\n' })
  expect(executed('before')).toHaveLength(1)
  expect(executed('waits')).toHaveLength(2)
  expect(new Set(executed('waits').map(({ key }) => key)).size).toBe(1)
  await env.expectCleanEnd(handle)
})

it('a call of an MCP tool with effect once is not repeated when its worker is killed, and code learns that', async () => {
  const { env, executed } = await start()
  const handle = await env.startProgram(`
print(await odd__write(id="before"))
try: print(await odd__write(id="waits"))
except ToolOutcomeUnknown as error: print("unknown")
print(await odd__write(id="after"))`)
  await expect.poll(() => executed('waits'), pollOptions).toHaveLength(1)
  await env.workers.kill()
  await env.workers.start()
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: 'wrote before\nunknown\nwrote after\n' })
  for (const id of ['before', 'waits', 'after']) expect(executed(id)).toHaveLength(1)
  await env.expectCleanEnd(handle)
})
