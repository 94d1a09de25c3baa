import { describe, expect, it } from 'vitest'
import type { PtcClient, WaitOfRun } from '../../client/index.js'
import type { CallWait } from '../../client/run-tree/index.js'
import { findToken, onlyToken } from './find-waiting-call.js'

const wait = (token: string, index: number): CallWait => ({
  type: 'approval',
  tool: 'pay',
  summary: 'pay',
  arguments: {},
  position: { turn: 1, cell: 1, index },
  since: 0,
  expiresAt: 1_000,
  token,
})

describe('a call of a run', () => {
  const call = (index: number) => `turn-1.cell-1.call-${index}`
  const ptcWith = (own: readonly CallWait[], below: readonly CallWait[]) => {
    const ofParent = [...own, ...below.map((each) => ({ ...each, workflowId: 'child' }))]
    const waits = ({ run }: { readonly run: string }) =>
      Promise.resolve((run === 'parent' ? ofParent : below).map((each) => ({ wait: each })))
    return { waits } as unknown as PtcClient
  }

  it('may be that of its sub-agent', async () => {
    const ptc = ptcWith([], [wait('below', 1)])
    expect(await findToken(ptc, 'approval', 'parent', undefined)).toBe('below')
    expect(await findToken(ptc, 'approval', 'parent', call(1))).toBe('below')
  })

  it('is its own before those of its sub-agents', async () => {
    const ptc = ptcWith([wait('own', 1)], [wait('below', 1), wait('other', 2)])
    expect(await findToken(ptc, 'approval', 'parent', undefined)).toBe('own')
    expect(await findToken(ptc, 'approval', 'parent', call(1))).toBe('own')
    expect(await findToken(ptc, 'approval', 'parent', call(2))).toBe('other')
    expect(await findToken(ptc, 'approval', 'child', call(1))).toBe('below')
  })

  it('that is not clear is refused with the run of each call', async () => {
    await expect(
      findToken(ptcWith([], [wait('below', 1), wait('other', 2)]), 'approval', 'parent', undefined),
    ).rejects.toMatchObject({
      code: 'RUN_INPUT_INVALID',
      hint: `Name one of them: ${call(1)} of child, ${call(2)} of child.`,
    })
  })
})

describe('the only call of all runs', () => {
  const of = (id: string): WaitOfRun => ({ run: { workflowId: id }, wait: wait(id, 1) }) as unknown as WaitOfRun

  it('is taken when all runs were looked at', () => {
    expect(onlyToken({ waits: [of('a')], limit: undefined }, 'approval')).toBe('a')
  })

  it.each([
    { waits: [of('a')], hint: 'Name the run. Of these, run a waits.' },
    { waits: [], hint: 'Name the run. None of these waits.' },
  ])('is refused when others may wait: $hint', ({ waits, hint }) => {
    expect(() => onlyToken({ waits, limit: 100 }, 'approval')).toThrow(
      expect.objectContaining({ code: 'RUN_INPUT_INVALID', hint }),
    )
  })

  it('is none when several wait', () => {
    expect(() => onlyToken({ waits: [of('a'), of('b')], limit: 100 }, 'approval')).toThrow('2 calls wait for approval')
  })
})
