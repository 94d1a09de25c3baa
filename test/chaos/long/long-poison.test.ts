import { expect, it } from 'vitest'
import { patient } from '../../support/patient.js'
import { attempts, poisoned } from '../../support/poison.js'
import { Stack } from '../../support/stack.js'
import { tool } from '../../support/tools.js'

const healthy = 'print(await echo(value=7))'

it('F33: a history of tens of thousands of events that can not be replayed holds nobody up', async () => {
  const stack = await Stack.start({ tools: [tool('echo', ({ value }) => value)] })
  const [poison] = await poisoned(stack, [45_000])
  if (!poison) throw new Error('there is no poison')
  await expect.poll(() => attempts(poison), patient).toBeGreaterThan(1)
  const results = await Promise.all(Array.from({ length: 4 }, () => stack.run(healthy)))
  for (const { outcome } of results) expect(outcome).toMatchObject({ status: 'ok', output: '7\n' })
  expect((await poison.describe()).historyLength).toBeGreaterThan(45_000)
  await poison.terminate()
}, 600_000)
