import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CancelledFailure } from '@temporalio/common'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import type { AuditEvent } from '../../../../src/audit/index.js'
import type { ProgramResult } from '../../../../src/common/run/runs.js'
import { Bookings } from '../../../support/booking-tool.js'
import { scheduledActivitiesOfType } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { Deferred, tool } from '../../../support/tools.js'

const bookings = new Bookings()
const audited: AuditEvent[] = []
const requests: ApprovalRequest[] = []
let requested = new Deferred()
let called = new Deferred()
const wait = tool('wait', async (_input, { signal }) => {
  called.resolve()
  await waitForAbort(signal)
})
let env: TestEnvironment
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    tools: [
      bookings.tool(),
      bookings.tool('book_once', 'once'),
      bookings.tool('book_approved', 'idempotent', { approval: 'always' }),
      wait,
    ],
    approvals: {
      onRequest: (request) => {
        requests.push(request)
        requested.resolve()
      },
    },
    audit: { sink: { write: async (event: AuditEvent) => void audited.push(event) } },
    timeouts: { heartbeat: '1s' },
    limits: { compensations: 40, historyEvents: 100 },
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(() => end?.())

const treeCalls = async (workflowId: string) =>
  (await env.ptc.handle(workflowId).tree()).turns[0]?.cells[0]?.calls ?? []

describe('calls of a program', () => {
  it('calls of a failed program are compensated in reverse, each once', async () => {
    const source = 'await book(what="f1")\nawait book(what="f2")\nawait book(what="f3")\nraise ValueError("no")'
    const { outcome, compensation } = await env.runProgram(source)
    expect(outcome).toMatchObject({ status: 'code_error', error: expect.stringContaining('ValueError: no') })
    expect(compensation).toEqual({ compensated: 3, failed: 0, failures: [] })
    expect(bookings.of('f')).toEqual(['f1', 'f2', 'f3', '-f3', '-f2', '-f1'])
    expect(bookings.keys['-f1']).toBe(`${bookings.keys['f1']}/compensate`)
    const [first] = await treeCalls(env.lastRun.workflowId)
    expect(first).toMatchObject({ status: 'ok', compensation: { status: 'ok', attempts: 1 } })
    const ofFirst = audited.filter((event) => 'call' in event && event.call === bookings.keys['f1'])
    expect(ofFirst.map(({ type }) => type)).toEqual([
      'call.started',
      'call.completed',
      'compensation.started',
      'compensation.completed',
    ])
  })

  it('calls of a program that is cancelled after two of three are compensated', async () => {
    called = new Deferred()
    const handle = await env.startProgram(
      'await book(what="c1")\nawait book(what="c2")\nawait wait()\nawait book(what="c3")',
    )
    await called.promise
    await handle.cancel()
    await expect(handle.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) })
    expect((await handle.describe()).status.name).toBe('CANCELLED')
    expect(bookings.of('c')).toEqual(['c1', 'c2', '-c2', '-c1'])
    await env.expectCleanEnd(handle)
  })

  it('calls of a successful program are kept', async () => {
    const result = await env.runProgram(
      'await book(what="s1")\ntry: await book(what="s2", ending="refuse")\nexcept ToolError: pass',
    )
    expect(result).toMatchObject({ outcome: { status: 'ok' } })
    expect(result).not.toHaveProperty('compensation')
    expect(bookings.of('s')).toEqual(['s1'])
  })

  it('calls with an unknown outcome are compensated without a result, and calls without an effect are not', async () => {
    const source = `
for tool, what, ending in [(book, "u1", "refuse"), (book, "u2", "lose"), (book_once, "u3", "lose")]:
    try: await tool(what=what, ending=ending)
    except Exception as error: print(type(error).__name__)
1/0`
    const { outcome, compensation } = await env.runProgram(source)
    expect(outcome.output).toBe('ToolError\nToolError\nToolOutcomeUnknown\n')
    expect(bookings.of('u')).toEqual(['u2', 'u3', '-u3?', '-u2?'])
    expect(compensation).toMatchObject({ compensated: 2, failed: 0 })
  })

  it('compensations are retried as often as needed; one that fails permanently does not stop the others', async () => {
    const source = 'await book(what="r1")\nawait book(what="r2", attempts=0)\nawait book(what="r3", attempts=3)\n1/0'
    const { compensation } = await env.runProgram(source)
    expect(bookings.of('r')).toEqual(['r1', 'r2', 'r3', '-r3', '-r1'])
    const failure = {
      tool: 'book',
      call: 'turn-0.cell-1.call-2',
      idempotencyKey: bookings.keys['r2'],
      message: "r2 can't be cancelled",
    }
    expect(compensation).toEqual({ compensated: 2, failed: 1, failures: [failure] })
    const { workflowId } = env.lastRun
    expect(await env.ptc.handle(workflowId).describe()).toMatchObject({
      outcome: 'code_error',
      notCompensated: '1 call: book (turn-0.cell-1.call-2)',
    })
    expect(await treeCalls(workflowId)).toMatchObject([
      { compensation: { status: 'ok' } },
      { compensation: { status: 'failed', failure: { code: 'TOOL_REFUSED' } } },
      { compensation: { status: 'ok', attempts: 3 } },
    ])
  })

  it('calls over the limit of compensations are refused, and compensation works over continue-as-new', async () => {
    const source = `
refused = 0
for n in range(45):
    try: await book(what=f"n{n}" + "x" * 3_000)
    except ToolDenied as error: refused += 1
print(refused)
1/0`
    const handle = await env.startProgram(source)
    const { outcome, compensation } = (await handle.result()) as ProgramResult
    expect(outcome.output).toBe('5\n')
    expect(compensation).toMatchObject({ compensated: 40, failed: 0 })
    const booked = Array.from({ length: 40 }, (_, n) => `n${n}`)
    const names = bookings.of('n').map((name) => name.replace(/x+/, ''))
    expect(names).toEqual([...booked, ...booked.toReversed().map((name) => `-${name}`)])
    const chain = await env.executionHistories(handle)
    expect(chain.length).toBeGreaterThan(1)
    expect(chain.flatMap((history) => scheduledActivitiesOfType(history, 'value.load'))).not.toHaveLength(0)
    await env.expectCleanEnd(handle)
  })
})

describe('the denial of a call', () => {
  it('a denied call that code does not handle ends a program, whose calls are compensated', async () => {
    requested = new Deferred()
    const handle = await env.startProgram('await book(what="d1")\nawait book_approved(what="d2")')
    await requested.promise
    await env.ptc.denyCall(requests.at(-1)?.token ?? '', 'too expensive')
    expect(await handle.result()).toMatchObject({ outcome: { status: 'code_error' }, compensation: { compensated: 1 } })
    expect(bookings.of('d')).toEqual(['d1', '-d1'])
    await env.expectCleanEnd(handle)
  })

  it('a denial compensates the calls before it at once, if the person wants that', async () => {
    requested = new Deferred()
    const source = `
await book(what="e1"); await book(what="e2")
try: await book_approved(what="e3")
except ToolDenied as error: print(error)
await book(what="e4")`
    const handle = await env.startProgram(source)
    await requested.promise
    await env.ptc.denyCall(requests.at(-1)?.token ?? '', 'start over', { compensate: true })
    expect(await handle.result()).toMatchObject({
      outcome: { status: 'ok', output: 'book_approved was not approved: start over (2 calls were compensated)\n' },
      compensation: { compensated: 2, failed: 0 },
    })
    expect(bookings.of('e')).toEqual(['e1', 'e2', '-e2', '-e1', 'e4'])
    await env.expectCleanEnd(handle)
  })
})
