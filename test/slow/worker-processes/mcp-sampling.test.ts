import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { pollOptions } from '../../support/poll-options.js'
import { text, turn } from '../../support/script.js'

const config = fileURLToPath(new URL('../../fixtures/mcp/asking.config.ts', import.meta.url))

it.each([
  ['may be repeated gets the recorded reply', 'again', 'waited\n', 2],
  ['has effect once is not repeated', 'once', 'unknown\n', 1],
])(
  'a call that %s after its worker was killed, and the model is asked once',
  async (_what, server, output, replies) => {
    const folder = await temporaryFolder()
    const ledger = join(folder, 'calls.jsonl')
    const env = await TestEnvironment.startProcesses({
      script: [turn(text('yes'))],
      config,
      environment: { TEST_LEDGER: ledger, TEST_VALUES: join(folder, 'values') },
    })
    const noted = () => (existsSync(ledger) ? (readFileSync(ledger, 'utf8').match(/"reply":"yes"/g) ?? []) : [])
    const handle = await env.startProgram(`
try: print(await ${server}__ask(id="samples_and_waits"))
except ToolOutcomeUnknown: print("unknown")`)
    await expect.poll(noted, pollOptions).toHaveLength(1)
    await env.workers.kill()
    await env.workers.start()
    const { outcome, usage } = (await handle.result()) as ProgramResult
    expect(outcome).toMatchObject({ status: 'ok', output })
    expect(noted()).toHaveLength(replies)
    expect(env.api.requests).toHaveLength(1)
    expect(usage.outputTokens).toBeGreaterThan(0)
    await env.expectCleanEnd(handle)
  },
)
