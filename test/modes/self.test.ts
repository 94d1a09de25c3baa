import { expect, it } from 'vitest'
import { evictions, inMode } from '../support/mode.js'
import { Stack } from '../support/stack.js'
import { tool } from '../support/tools.js'
import { faults } from './faults.js'
import { isEverRemembered } from './is-ever-remembered.js'

// Run without a mode it is the control: none of the faults happens by itself.
it('the faults of the mode happen, and no others', async () => {
  const stack = await Stack.start({ tools: [tool('echo', ({ value }) => value)] })
  const { outcome } = await stack.run('a = await echo(value="a")\nb = await echo(value="b")\nprint(a + b)')
  expect(outcome).toMatchObject({ status: 'ok', output: 'ab\n' })

  const forgets = !isEverRemembered(await stack.history())
  const opened = (await stack.activities()).filter(({ type }) => type === 'session.open').length
  expect({ forgets, opened, ...faults }).toEqual({
    forgets: inMode('always-replay'),
    forgetfulWorkers: inMode('always-replay') ? expect.any(Number) : 0,
    opened: 1 + evictions(2),
    sandboxesDestroyed: evictions(2),
    // Two calls and the end; the greeting too, unless it comes in one piece with what is said next.
    connectionsDropped: inMode('always-reattach') ? expect.toSatisfy((count: number) => count >= 3) : 0,
  })
})
