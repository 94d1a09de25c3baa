import { expect, inject, it } from 'vitest'
import { readHistory } from '../../support/environment/histories.js'
import { inMode } from '../../support/mode.js'
import { answerResult, code, turn } from '../../support/script.js'
import { usesStickyQueue } from '../../modes/uses-sticky-queue.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'

// Without the mode this test is the control.
it('worker processes cache no workflow in always-replay', async () => {
  const backend = inject('docker') === 'available' ? 'docker' : 'wasm'
  const { env } = await startWithLedger([turn(code('await charge(name="flat")')), answerResult], { backend })
  const handle = await env.startAgent()
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered' })
  expect(usesStickyQueue(await readHistory(env.client, handle.workflowId))).toBe(!inMode('always-replay'))
})
