import { describe, expect, it } from 'vitest'
import { CancelledFailure } from '@temporalio/common'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { ledgerConfig } from '../../support/environment/ledger-environment.js'
import { noModel } from '../../support/script.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'

const bookings = ['a', 'b', 'c', 'undo c', 'undo b', 'undo a']

const startWith = (crashes: readonly Crash[]) =>
  startCrashingWorkers(crashes, { config: ledgerConfig, script: noModel })

describe('a run whose calls are compensated', () => {
  it.each<[string, readonly Crash[]]>([
    ['before the first compensation', [{ point: 'compensation.begins', hit: 1 }]],
    ['after the effect of the first', [{ point: 'compensation.ran', hit: 1 }]],
    ['between two compensations', [{ point: 'compensation.begins', hit: 2 }]],
    ['after the effect of the second', [{ point: 'compensation.ran', hit: 2 }]],
    ['after the effect of the last', [{ point: 'compensation.ran', hit: 3 }]],
    [
      'twice at the same compensation',
      [
        { point: 'compensation.ran', hit: 2 },
        { point: 'compensation.ran', hit: 1 },
      ],
    ],
    ['after the last call, before its result is recorded', [{ point: 'tool.ran', hit: 3 }]],
    ['when the sandbox was closed', [{ point: 'close.ends', hit: 1 }]],
  ])('a run has each effect and each inverse once, in order, when a worker is killed %s', async (_, crashes) => {
    const { env, ledger, deaths } = await startWith(crashes)
    const handle = await env.startProgram('for name in "abc": await book(name=name)\n1/0')
    expect((await handle.result()) as ProgramResult).toMatchObject({
      outcome: { status: 'code_error' },
      compensation: { compensated: 3, failed: 0 },
    })
    expect(deaths()).toBe(crashes.length)
    expect(ledger.applied.map(({ name }) => name)).toEqual(bookings)
    await env.expectCleanEnd(handle)
  })

  it('the next worker compensates a cancelled run after a kill', async () => {
    const { env, ledger, deaths } = await startWith([{ point: 'compensation.ran', hit: 1 }])
    ledger.holdReplies('d')
    const handle = await env.startProgram('for name in "abcd": await book(name=name)')
    await ledger.waitForRequests('d')
    await handle.cancel()
    await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
    expect(deaths()).toBe(1)
    // The call in progress was cancelled after its effect: its outcome is unknown, and it is undone, too.
    expect(ledger.applied.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', 'undo d', 'undo c', 'undo b', 'undo a'])
    await env.expectCleanEnd(handle)
  })
})
