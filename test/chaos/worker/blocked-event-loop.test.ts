import type { WorkflowHandle } from '@temporalio/client'
import { defaultPayloadConverter } from '@temporalio/common'
import { describe, expect, it, vi } from 'vitest'
import { renderTree } from '../../../src/cli/rendering/tree/render-tree.js'
import { fastPollOptions } from '../../support/poll-options.js'
import { code, text, turn } from '../../support/script.js'
import { expectReplays } from '../../support/environment/histories.js'
import { waitForHeartbeats, pendingActivities } from '../../support/environment/waits.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { freeAddress } from '../../support/monitoring/free-address.js'
import { scrape, total } from '../../support/monitoring/scrape.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'

describe('a tool that blocks the event loop of its worker', () => {
  // Default heartbeat settings: a busy machine does not stop a worker.
  const options = { backend: 'wasm', environment: { TEST_HEARTBEAT: 'default' } } as const

  const blocking = (name: string) => [
    turn(code(`try:\n    print((await charge(name="${name}"))["done"])\nexcept ToolError as e:\n    print(e.status)`)),
    turn(text('it is {{last_tool_result}}')),
  ]

  /** The `blocked` message in the last heartbeat of the call that the server has. */
  async function noteInHeartbeat(handle: WorkflowHandle, type: string): Promise<string> {
    const [pending] = await pendingActivities(handle, type)
    const [payload] = pending?.heartbeatDetails?.payloads ?? []
    const details = payload && defaultPayloadConverter.fromPayload<{ readonly blocked?: string } | undefined>(payload)
    return details?.blocked ?? ''
  }

  /** The output of `ptc show`. */
  async function shown({ ptc }: Pick<ProcessEnvironment, 'ptc'>, { workflowId }: WorkflowHandle): Promise<string> {
    return renderTree(await ptc.handle(workflowId).tree(), { width: 200, color: false, full: false })
  }

  /** Number of attempts of its activity in the history. */
  async function attempts(handle: WorkflowHandle, type: string): Promise<readonly unknown[]> {
    const { events = [] } = await handle.fetchHistory()
    const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === type)
    return (events ?? []).flatMap(({ activityTaskStartedEventAttributes: started }) =>
      started && String(started.scheduledEventId) === String(scheduled?.eventId) ? [started.attempt] : [],
    )
  }

  it('F28: a blocking tool is reported as the cause, runs once, and delays no run of other workers', async () => {
    const address = await freeAddress()
    const { env, ledger } = await startWithLedger(blocking('block'), {
      ...options,
      initialWorkers: [{ roles: ['tools'], environment: { PTC_METRICS_ADDRESS: address } }],
    })
    const { first } = env.workers
    await env.workers.start({ hostId: 'elsewhere', roles: ['workflow', 'model', 'sandbox'] })
    const handle = await env.startAgent()
    await ledger.waitForRequests('block')
    const other = await env.startProgram('print(6 * 7)')
    const cause = /tool charge has blocked the event loop of the worker for \d+\.\d s/
    const isNamed = async () => cause.test(await noteInHeartbeat(handle, 'charge'))
    await vi.waitUntil(isNamed, fastPollOptions).catch((thrown: unknown) => {
      throw new Error(first.log, { cause: thrown })
    })
    expect(await pendingActivities(handle, 'charge')).toMatchObject([{ attempt: 1 }])
    expect(await shown(env, handle)).toMatch(cause)
    expect(first.log).toMatch(new RegExp(`${cause.source} \\(run ${handle.workflowId}\\)`))
    expect(await other.result()).toMatchObject({ outcome: { status: 'ok', output: '42\n' } })
    // The tool has not returned.
    expect(first.log).not.toContain('unblocked')

    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'it is block' })
    expect(ledger.requests).toHaveLength(1)
    expect(await attempts(handle, 'charge')).toEqual([1])
    const blocked = /tool charge blocked the event loop of the worker for [2-5]\d\.\d s/
    expect(await shown(env, handle)).toMatch(blocked)
    await first.waitForOutput(blocked)
    const samples = await scrape(address)
    expect(total(samples, 'ptc_event_loop_stall_milliseconds_count')).toBeGreaterThanOrEqual(1)
    expect(total(samples, 'ptc_event_loop_stall_milliseconds_sum')).toBeGreaterThan(20_000)
    await expectReplays(env.client, handle)
  })

  it('F28: a blocking tool runs once, and costs no concurrent call an attempt, with all roles in one process', async () => {
    const both = 'both = await asyncio.gather(send_once(name="block"), charge(name="beside"))'
    const script = [
      turn(code(`import asyncio\n${both}\nprint(*[each["done"] for each in both])`)),
      turn(text('it is {{last_tool_result}}')),
    ]
    const { env, ledger } = await startWithLedger(script, options)
    const { first } = env.workers
    ledger.holdReplies('block')
    ledger.holdReplies('beside')
    const handle = await env.startAgent()
    await Promise.all([ledger.waitForRequests('block'), ledger.waitForRequests('beside')])
    ledger.releaseReplies('block')
    await first.waitForOutput(/unblocked/)
    // The call of `charge` was also in progress.
    await first.waitForOutput(/tool send_once blocked the event loop .* for [2-5]\d\.\d s/)
    // Long after Temporal's core library timed the other call out.
    await waitForHeartbeats(handle, 'charge', 3)
    expect(await noteInHeartbeat(handle, 'charge')).toContain('blocked the event loop')
    ledger.releaseReplies('beside')
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'it is block beside' })
    expect(ledger.requests).toHaveLength(2)
    expect(await attempts(handle, 'send_once')).toEqual([1])
    expect(await attempts(handle, 'charge')).toEqual([1])
  })

  it('F28: a tool that blocks for longer than its timeout fails without retry', async () => {
    const { env, ledger } = await startWithLedger(blocking('block-long'), {
      ...options,
      initialWorkers: [{ roles: ['tools'] }],
    })
    await env.workers.start({ hostId: 'elsewhere', roles: ['workflow', 'model', 'sandbox'] })
    const handle = await env.startAgent()
    expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'it is timed_out' })
    expect(env.workers.first.log).toContain('the call fails without retry')
    expect(await shown(env, handle)).toMatch(/tool charge has blocked the event loop of the worker for 6\d\.\d s/)
    await env.workers.first.waitForOutput(/fails without retry[^]*unblocked/)
    await env.workers.first.waitForOutput(/tool charge blocked the event loop of the worker for [78]\d\.\d s/)
    expect(ledger.requests).toHaveLength(1)
    expect(env.workers.first.isRunning).toBe(true)
  })
})
