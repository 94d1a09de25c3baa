import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CancelledFailure } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { tool } from '../../../test/support/tools.js'
import type { AuditLog } from '../../audit/index.js'
import { waitForAbort } from '../../common/async/abort.js'
import { PtcError } from '../../common/errors.js'
import { ToolError } from '../../tools/tool-error.js'
import type { ToolActivityInput } from '../../common/calls/call-activities.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { ExecuteStepInput, FollowUpStep, RequestedCall, Step, StepResult } from '../../common/session/steps.js'
import type { SessionHost } from '../../sandbox/session/session-host.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { FollowUps } from './follow-ups.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
afterAll(() => rmSync(folder, { recursive: true }))
const values = new Values({ store: new LocalStore(folder) })

const local = { effect: 'read', execution: 'local' } as const
const made: unknown[] = []
const registry = createRegistry([
  tool('look', ({ n }) => n, local),
  tool('fail', () => Promise.reject(new Error('no')), local),
  tool('hang', () => delay(60_000, null, { ref: false }), local),
  tool('large', () => 'x'.repeat(100_000), local),
  tool('direct', () => 1, { ...local, allowedCallers: ['direct'] }),
  tool('pay', () => null),
  tool('mark', ({ n }) => (made.push(n), n), { effect: 'idempotent', execution: 'local' }),
  tool('mark_once', ({ n }) => (made.push(n), n), { effect: 'once', execution: 'local' }),
  tool('mark_text', () => 'x'.repeat(4_000), { effect: 'once', execution: 'local' }),
  tool('mark_large', () => 'x'.repeat(100_000), { effect: 'once', execution: 'local' }),
  tool('mark_fails', () => Promise.reject(new Error('no')), { effect: 'once', execution: 'local' }),
  tool('mark_refuses', () => Promise.reject(new ToolError('never')), { effect: 'once', execution: 'local' }),
  tool('mark_long', () => delay(1_000, 'late', { ref: false }), { effect: 'once', execution: 'local' }),
  tool('mark_stops', (_input, { signal }) => waitForAbort(signal).then(() => Promise.reject(new Error('stopped'))), {
    effect: 'once',
    execution: 'local',
  }),
  tool('mark_fails_late', () => delay(700, undefined, { ref: false }).then(() => Promise.reject(new Error('late'))), {
    effect: 'once',
    execution: 'local',
  }),
  tool('mark_slow', () => null, { effect: 'idempotent', execution: 'local', timeout: '1h' }),
])

const call = (index: number, name = 'look'): RequestedCall => ({ index, tool: name, arguments: { n: index } })
const suspended = (...calls: readonly RequestedCall[]) =>
  ({ type: 'suspended', calls, wakeInMs: null, output: '' }) as const
const completed = { type: 'completed', output: 'done' } as const
const okResult = (index: number, value: unknown = index) => ({ index, outcome: { status: 'ok', value } })

const session = { id: 'run', epoch: 1, backend: 'docker', startedAt: 0 } as const
const allowance = { maxCalls: 50, turn: 1, cell: 2, firstExecutionRunId: 'first', resultBytes: 1_000_000 }
const stepInput: ExecuteStepInput = {
  session,
  tools: { digest: registry.digest },
  limits: defaultLimits,
  step: { number: 4, now: 1_000, input: { type: 'cell', cell: 2, source: '' } },
  outputLimit: 1_000,
  localCalls: allowance,
}
const callInput = {
  tool: 'pay',
  caller: 'code_execution',
  position: { turn: 1, cell: 2, index: 7 },
  idempotencyKey: 'key',
  arguments: {},
  limits: { argumentBytes: 1_000, resultBytes: 1_000 },
  inputDigest: '',
  followUp: { session: { id: 'run', epoch: 1 }, step: 5, now: 2_000, maxLocalCalls: 50 },
} as const satisfies ToolActivityInput

type Sandbox = (step: Step) => StepResult | undefined | Promise<StepResult | undefined>

/** Follow-up steps in a sandbox that returns these results, and repeats the last one. */
function followUpsIn(results: Sandbox | readonly StepResult[], hasTools = true, audit?: AuditLog) {
  const steps: Step[] = []
  const execute = typeof results === 'function' ? results : () => results[steps.length - 1] ?? results.at(-1)
  const host = {
    executeStepIfConnected: async (_session: unknown, step: Step) => {
      steps.push(step)
      return execute(step)
    },
  } as unknown as SessionHost
  return {
    steps,
    followUps: new FollowUps({ host, registry, values, namespace: 'default', limits: defaultLimits, hasTools, audit }),
  }
}

type FollowUpScope = Parameters<FollowUps['afterStep']>[2]

async function inActivity(
  work: (scope: FollowUpScope) => Promise<readonly FollowUpStep[]>,
  storeResult: FollowUpScope['storeResult'] = () => Promise.resolve(true),
  signal = new AbortController().signal,
) {
  const times = { elapsedMs: () => 10, remainingMs: () => 60_000 }
  const scope = { signal, workflowId: 'w', runId: 'r', ...times, storeResult }
  const followed: readonly FollowUpStep[] = await new MockActivityEnvironment().run(() => work(scope))
  return followed
}

/** Returns the follow-up steps of a step with these calls in its result. */
async function afterStep(
  calls: readonly RequestedCall[],
  results: Sandbox | readonly StepResult[],
  {
    input = stepInput,
    hasTools = true,
    storeResult,
    signal,
    audit,
  }: {
    readonly input?: ExecuteStepInput
    readonly hasTools?: boolean
    readonly storeResult?: FollowUpScope['storeResult']
    readonly signal?: AbortSignal
    readonly audit?: AuditLog
  } = {},
) {
  const { followUps, steps } = followUpsIn(results, hasTools, audit)
  const described = calls.map((each) => ({ ...each, summary: '', digest: '', refused: null }))
  const result = { ...suspended(), calls: described }
  const work = (scope: FollowUpScope) => followUps.afterStep(input, result, scope)
  return { steps, followed: await inActivity(work, storeResult, signal) }
}

describe('after a step', () => {
  it('follow-up steps make local calls, deliver their results, and continue with the next calls', async () => {
    const { followed, steps } = await afterStep([call(1)], [suspended(call(2), call(3)), completed])
    expect(followed).toMatchObject([
      { number: 5, now: 1_010, waited: 0, results: [okResult(1)], result: { type: 'suspended' } },
      { number: 6, now: 1_010, results: [okResult(2), okResult(3)], result: completed },
    ])
    // Step 4 is not recorded before the activity ends: the sandbox keeps its result and the later ones.
    expect(steps.map(({ recorded }) => recorded)).toEqual([3, 3])
  })

  it.each<[string, readonly RequestedCall[]]>([
    ['an ordinary tool', [call(1, 'pay')]],
    ['an ordinary tool beside a local one', [call(1), call(2, 'pay')]],
    ['a tool that code may not call', [call(1, 'direct')]],
    ['a tool that fails', [call(1, 'fail')]],
    ['a tool that takes long', [call(1, 'hang')]],
    ['a tool that returns much', [call(1, 'large')]],
    ['more than the allowed number', Array.from({ length: 51 }, (_, n) => call(n + 1))],
  ])('follow-up steps leave calls of %s to the workflow', async (_case, calls) => {
    expect(await afterStep(calls, [completed])).toEqual({ followed: [], steps: [] })
  })

  it.each<[string, Parameters<typeof afterStep>[2]]>([
    ['the workflow does not allow it', { input: { ...stepInput, localCalls: undefined } as never }],
    ['the worker runs no tools', { hasTools: false }],
    ['the run has other tools', { input: { ...stepInput, tools: { digest: 'other' } } }],
  ])('follow-up steps leave calls to the workflow when %s', async (_case, options) => {
    expect(await afterStep([call(1)], [completed], options)).toEqual({ followed: [], steps: [] })
  })

  it.each<[string, Sandbox]>([
    ['is not connected', () => undefined],
    ['is ahead', () => Promise.reject(new PtcError('SANDBOX_FENCED', 'ahead'))],
    ['takes long', () => delay(60_000, completed, { ref: false })],
  ])('local results are recorded without the next step when the sandbox %s', async (_case, sandbox) => {
    const { followed } = await afterStep([call(1)], sandbox)
    expect(followed).toEqual([{ number: 5, now: 1_010, waited: 0, results: [okResult(1)] }])
  })

  it('the limit of local calls counts the calls of all follow-up steps', async () => {
    let index = 1
    const { followed } = await afterStep([call(1)], () => suspended(call((index += 1))))
    expect(followed).toHaveLength(50)
  })

  it('a program with a timer has no follow-up steps', async () => {
    const { followed } = await afterStep([call(1)], [{ ...suspended(call(2)), wakeInMs: 5 }])
    expect(followed).toHaveLength(1)
  })
})

describe('calls with effects', () => {
  /** Returns the follow-up steps, and those of each stored result. */
  async function withStored(
    calls: readonly RequestedCall[],
    results: Sandbox | readonly StepResult[] = [completed],
    isStored: (count: number) => boolean = () => true,
  ) {
    const stored: (readonly FollowUpStep[])[] = []
    const storeResult = (result: unknown) => {
      stored.push((result as { followUps: readonly FollowUpStep[] }).followUps)
      return Promise.resolve(isStored(stored.length))
    }
    return { ...(await afterStep(calls, results, { storeResult })), stored }
  }
  const unknown = (index: number, name = 'mark_once') => ({
    index,
    outcome: {
      status: 'outcome_unknown',
      message: `${name} may or may not have happened: the worker that ran it was lost. It is not repeated by itself.`,
    },
  })

  it('before an effect, the server has the results on which it depends', async () => {
    const { followed, stored } = await withStored([call(1)], [suspended(call(2, 'mark')), completed])
    expect(stored).toMatchObject([[{ number: 5, results: [okResult(1)], result: { type: 'suspended' } }]])
    expect(followed).toMatchObject([
      { number: 5, results: [okResult(1)] },
      { number: 6, results: [okResult(2)], result: completed },
    ])
  })

  it('the server learns that a `once` call may have begun, and then its result', async () => {
    const { followed, stored } = await withStored([call(1, 'mark_once'), call(2)])
    expect(stored).toMatchObject([
      [{ number: 5, results: [unknown(1)] }],
      [{ number: 5, results: [okResult(1), okResult(2)] }],
    ])
    expect(stored.flat().every((step) => step.result === undefined)).toBe(true)
    expect(followed).toMatchObject([{ number: 5, results: [okResult(1), okResult(2)], result: completed }])
  })

  it('reads store nothing, and effects at once are stored by one request', async () => {
    expect((await withStored([call(1)])).stored).toEqual([])
    expect((await withStored([call(1, 'mark'), call(2, 'mark'), call(3)])).stored).toHaveLength(1)
  })

  it('an effect does not begin when the server may not know of it', async () => {
    const { followed, stored } = await withStored([call(1, 'mark_once')], [completed], () => false)
    expect({ followed, stored: stored.length }).toEqual({ followed: [], stored: 1 })
  })

  it('after a request that failed, nothing is stored, and no effect begins', async () => {
    const results = [suspended(call(2, 'mark')), completed]
    const { followed, stored } = await withStored([call(1, 'mark_once')], results, (count) => count === 1)
    expect(stored).toHaveLength(2)
    expect(followed).toMatchObject([{ number: 5, results: [okResult(1)], result: { type: 'suspended' } }])
  })

  it('a failed `once` call has an outcome, and other calls at once keep theirs', async () => {
    const { followed } = await withStored([call(1, 'mark_fails'), call(2, 'mark'), call(3, 'fail')])
    // The workflow makes the failed read.
    expect(followed).toMatchObject([
      { number: 5, results: [{ index: 1, outcome: { status: 'outcome_unknown' } }, okResult(2)] },
    ])
    expect(followed[0]).not.toHaveProperty('result')
    expect((await withStored([call(1, 'mark_refuses')])).followed).toMatchObject([
      { results: [{ index: 1, outcome: { status: 'tool_error', message: 'never' } }], result: completed },
    ])
  })

  it('a large result is recorded by reference, and the workflow delivers it', async () => {
    const { followed, steps } = await withStored([call(1, 'mark_large')])
    expect(followed).toMatchObject([
      { number: 5, results: [{ index: 1, outcome: { status: 'ok', value: { 'ptc.value': { bytes: 100_002 } } } }] },
    ])
    expect(steps).toEqual([])
  })

  it('an effect that takes longer than follow-up steps may is not given up', async () => {
    const { followed } = await withStored([call(1, 'mark_long')])
    expect(followed).toMatchObject([{ number: 5, results: [okResult(1, 'late')] }])
  })

  it('a `once` call that the end of its worker stops is not left to the workflow, which would make it again', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new CancelledFailure('WORKER_SHUTDOWN')), 100)
    const calls = [call(1, 'mark_long'), call(2, 'mark_stops')]
    const { followed } = await afterStep(calls, [completed], { signal: controller.signal })
    const outcome = { status: 'outcome_unknown' }
    expect(followed).toMatchObject([
      {
        results: [
          { index: 1, outcome },
          { index: 2, outcome },
        ],
      },
    ])
  })

  it('an effect does not begin when the activity is cancelled while the server stores what it depends on', async () => {
    const before = made.length
    const controller = new AbortController()
    const storeResult = () => {
      controller.abort(new CancelledFailure('CANCELLED'))
      return Promise.resolve(true)
    }
    const { signal } = controller
    await afterStep([call(1, 'mark_once'), call(2, 'mark')], [completed], { signal, storeResult })
    expect(made.length).toBe(before)
  })

  it('what is stored stays far below the limit of a server, also after many calls at once', async () => {
    const calls = Array.from({ length: 50 }, (_, n) => call(n + 1, 'mark_text'))
    const { stored } = await withStored(calls)
    expect(stored).toHaveLength(2)
    expect(Buffer.byteLength(JSON.stringify(stored.at(-1)))).toBeLessThan(256 * 1024)
  })

  it('a step with large calls stores nothing, and its effects are left to the workflow', async () => {
    const calls = Array.from({ length: 11 }, (_, n) => ({
      ...call(n + 1, 'mark'),
      arguments: { n: 1, text: 'x'.repeat(3_000) },
    }))
    const { followed, stored } = await withStored(calls)
    expect({ followed, stored }).toEqual({ followed: [], stored: [] })
  })

  it('an effect that fails after the time of follow-up steps is no cancelled one in the audit log', async () => {
    const events: unknown[] = []
    const write = (event: unknown) => Promise.resolve(void events.push(event))
    const audit = { before: write, after: write } as unknown as AuditLog
    await afterStep([call(1, 'mark_fails_late')], [completed], { audit })
    expect(events.slice(0, 2)).toMatchObject([{ type: 'call.started' }, { type: 'call.failed', status: 'tool_error' }])
  })

  it('an effect that may outlast the activity is left to the workflow', async () => {
    const { followed, stored } = await withStored([call(1, 'mark_slow')])
    expect({ followed, stored }).toEqual({ followed: [], stored: [] })
  })

  it('after many bytes, an effect is left to the workflow', async () => {
    const printing = { ...suspended(call(2, 'mark')), output: 'x'.repeat(3_000) }
    let index = 1
    const { followed } = await withStored([call(1)], () => ({ ...printing, calls: [call((index += 1), 'mark')] }))
    // Each step has 1,000 characters of output, and 32,000 bytes are stored.
    expect(followed.length).toBeGreaterThan(15)
    expect(followed.length).toBeLessThan(32)
  })
})

describe('after a call', () => {
  async function afterCall(results: Sandbox | readonly StepResult[], value: unknown = 'paid') {
    const { followUps, steps } = followUpsIn(results)
    await inActivity((scope) => followUps.afterStep(stepInput, completed, scope))
    return {
      steps,
      followed: await inActivity((scope) => followUps.afterCall(callInput, { value: value as string }, scope)),
    }
  }

  it('the follow-up step of a call delivers its result and does not repeat it', async () => {
    const { followed, steps } = await afterCall([suspended(call(8)), completed])
    expect(steps[0]?.input).toEqual({ type: 'results', results: [okResult(7, 'paid')] })
    expect(followed).toMatchObject([
      { number: 5, now: 2_010, result: { type: 'suspended' } },
      { number: 6, results: [okResult(8)], result: completed },
    ])
    expect(followed[0]).not.toHaveProperty('results')
  })

  it('the step after a call without a result is left to the workflow', async () => {
    expect((await afterCall(() => undefined)).followed).toEqual([])
  })

  it('the step after a call with an external result is left to the workflow', async () => {
    const external = { 'ptc.value': { sha256: '0'.repeat(64), bytes: 1, preview: '' } }
    expect(await afterCall([completed], external)).toEqual({ followed: [], steps: [] })
  })

  it('the step after a call is left to the workflow when this process does not know the session', async () => {
    const { followUps } = followUpsIn([completed])
    expect(await inActivity((scope) => followUps.afterCall(callInput, { value: null }, scope))).toEqual([])
  })
})
