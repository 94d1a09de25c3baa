import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { tool } from '../../../support/tools.js'

// Node warns about an eleventh listener on a signal; the watch polls the server once per second.
it('watching a run for longer than ten seconds leaks no listener', async () => {
  const warnings: string[] = []
  const warn = ({ message }: Error) => void warnings.push(message)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const env = await TestEnvironment.start({ tools: [tool('wait', () => delay(14_000, 'waited'))] })
  const handle = await env.ptc.startProgram({ source: 'print(await wait())' })
  expect(await handle.watch()).toMatchObject({ status: 'completed', totals: { toolCalls: 1 } })
  expect(warnings).toEqual([])
})
