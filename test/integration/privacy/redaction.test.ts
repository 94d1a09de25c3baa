import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import type { RedactedText } from '../../../src/common/text/redact.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { tool } from '../../support/tools.js'

it('redacts the texts of a run that people see, and nothing that the run needs', async () => {
  const file = join(await temporaryFolder(), 'audit.jsonl')
  const seen: RedactedText[] = []
  const redact = (text: string, about: RedactedText) => {
    seen.push(about)
    return text.replaceAll('secret', '…')
  }
  const approvals = new DeferredToolCalls()
  const given: unknown[] = []
  const pay = tool('pay', (input) => {
    given.push(input)
    return 'secret'
  })
  const audit = { file, includesCode: true }
  const env = await TestEnvironment.start({ backend: 'wasm', audit, redact, tools: [pay, approvals.tool('approve')] })
  const ptc = createPtcClient({ client: env.client, taskQueue: env.taskQueue, redact })
  const run = await ptc.startProgram({ source: 'print(await pay(iban="secret"))\nawait approve(id=1)  # secret' })
  const handle = env.client.workflow.getHandle(run.workflowId)
  const token = await approvals.token(1)

  const details = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata')
  expect(JSON.stringify(details)).not.toContain('secret')
  await env.ptc.completeCall(token, { approved: true })
  expect(await run.result()).toMatchObject({ outcome: { status: 'ok', output: 'secret\n' } })
  expect(given).toEqual([{ iban: 'secret' }])

  const summaries = (await env.activities(handle)).map(({ summary }) => summary ?? '')
  expect(summaries).toContain('pay …')
  expect(summaries.join()).not.toContain('secret')
  expect(await run.describe()).toMatchObject({ summary: expect.stringContaining('pay(iban="…")') })
  const { raw } = await handle.describe()
  expect(JSON.stringify(raw.executionConfig?.userMetadata)).not.toContain(Buffer.from('secret').toString('base64'))
  const [log, tree] = [await readFile(file, 'utf8'), await run.tree()]
  expect(log).toContain('pay(iban=\\"…\\")')
  expect(log).not.toContain('secret')
  expect(tree.turns[0]?.cells[0]?.code).toContain('iban="secret"')
  expect(new Set(seen.map(({ kind }) => kind))).toEqual(new Set(['question', 'code', 'arguments']))
  expect(seen).toContainEqual({ kind: 'arguments', tool: 'pay' })
  await env.expectCleanEnd(handle)
})
