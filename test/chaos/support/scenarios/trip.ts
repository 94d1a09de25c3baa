import { fileURLToPath } from 'node:url'
import { expect, vi } from 'vitest'
import type { Failpoint } from '../../../../src/common/failpoint.js'
import { budgetMessage } from '../../../../src/common/names.js'
import type { Script, ScriptedTurn } from '../../../../src/testing/index.js'
import { call, code, text, turn } from '../../../support/script.js'
import { completedActivityCount } from '../../../support/environment/histories.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { pollOptions } from '../../../support/poll-options.js'
import { hasContinueAsNewTimedOut, isContinuedDuringCell } from '../continue-as-new.js'
import { recordedTurnsBefore, remainingContainers } from '../oracle.js'
import { approveCall, raiseBudget } from './outside-services.js'
import type { Scenario, ScenarioResult, ScenarioServices } from './scenario.js'

/** Number of additional calls in the first and the last cell. */
interface Fees {
  readonly before: number
  readonly after: number
}

/** Characters of output of the first two cells, which a summary replaces. */
const outputCharacters = 8_000

/**
 * The scenario of a trip that is cancelled: all features of agents in one run. Code books in parallel, a sub-agent with
 * a lease works while a call waits for approval and the sandbox is parked, the budget pauses the run until it is
 * raised, the messages are compacted with a summary, and snapshots shorten rebuilds. Then the model gives up, and the
 * bookings are compensated. Bookings of the sub-agent are kept, because it has answered. Rules on data follow labels
 * through code, the sub-agent and the model. The live stream is read at the same time.
 */
function cellsWith(fees: Fees): readonly string[] {
  return [
    `
import asyncio
done = [(await book(name="flight"))["done"]]
done += [each["done"] for each in await asyncio.gather(book(name="hotel"), charge(name="fee"))]
for n in range(${fees.before}):
    await charge(name=f"before {n}")
print("booked", ",".join(done), "-" * ${outputCharacters})
`,
    `
visa, car = await asyncio.gather(clerk(task="Get the visa."), book_approved(name="car"))
done += [visa, car["done"]]
print("abroad", ",".join(done), "-" * ${outputCharacters})
`,
    `
done.append((await book(name="dinner"))["done"])
for n in range(${fees.after}):
    await charge(name=f"after {n}")
print("complete", ",".join(done))
`,
  ]
}

const clerkCell = `
print("paid", (await charge(name="visa"))["done"])
`

const [firstText, insuranceText, lastText] = ['First the flight.', 'Now the insurance.', 'Nobody can travel.'] as const
const clerkAnswer = 'The visa is there.'
const reason = 'The trip is cancelled.'

const plannerTurns = (cells: readonly string[]) => [
  { ...turn(text(firstText), code(cells[0] ?? '')), match: { assistantMessages: 0 } },
  { ...turn(code(cells[1] ?? '')), match: { lastToolResult: 'booked flight,hotel,fee' } },
  {
    // With its result, the messages are over the threshold of the context window.
    ...turn(text(insuranceText), call('insure', { name: 'insurance' })),
    match: { lastToolResult: `abroad flight,hotel,fee,${clerkAnswer},car` },
  },
  { ...turn(code(cells[2] ?? '')), match: { lastToolResult: 'insurance' } },
  { ...turn(text(lastText), call('give_up', { reason })), match: { lastToolResult: 'complete' } },
]

const clerkTurns = [turn(code(clerkCell)), turn(call('book', { name: 'stamp' })), turn(text(clerkAnswer))]

const scriptWith = (turns: readonly ScriptedTurn[]): Script => ({
  conversations: [
    { match: { firstUserText: '<transcript>' }, turns: [turn(text('The flight and the hotel are booked.'))] },
    { match: { firstUserText: 'Get the visa.' }, turns: clerkTurns },
    { turns },
  ],
})

/** Bookings in the order in which their calls are completed. Those of the sub-agent are not compensated. */
const bookings = ['flight', 'hotel', 'car', 'insurance', 'dinner'] as const

const compensations = bookings.toReversed().map((name) => `undo ${name}`)

const approvalRequest = 'ask car'

/** Effect of the sub-agent. Its reply comes when the sandbox of the run is parked. */
const effectOfClerk = 'visa'

const effectsBefore = ['flight', 'hotel', 'fee'] as const

/** The first effect is applied when the sub-agent and the approval have ended. */
const effectsAfter = ['insurance', 'dinner'] as const

/** After this effect the run pauses: the run and its sub-agent have taken three turns each. */
const effectBeforePause = 'insurance'

/** The budget of the configuration, and the part of it that the sub-agent gets. */
const [budgetTurns, leaseTurns] = [6, 4] as const

const minimumHits: Readonly<Record<Failpoint, number>> = {
  'config.loaded': 2,
  'model.begins': 8,
  'model.replied': 8,
  'turn.stored': 8,
  'messages.summarized': 1,
  'messages.compacted': 1,
  'session.started': 0,
  'open.begins': 3,
  'container.created': 3,
  'container.started': 3,
  'open.ends': 3,
  'step.begins': 9,
  'sandbox.attached': 0,
  'step.repeated': 1,
  'frame.sent': 17,
  'step.result': 10,
  'step.ends': 8,
  'effects.begin': 0,
  'effects.stored': 0,
  'tool.begins': 8,
  'tool.ran': 8,
  'tool.ends': 8,
  'approval.requested': 1,
  'compensation.begins': 5,
  'compensation.ran': 5,
  'journal.begins': 0,
  'journal.stored': 0,
  'value.written': 11,
  'value.published': 11,
  'memory.stored': 0,
  'memory.written': 0,
  'snapshot.begins': 2,
  'snapshot.stored': 2,
  'snapshot.restored': 1,
  'files.begins': 0,
  'files.stored': 0,
  'eval.reserved': 0,
  'eval.started': 0,
  'eval.timed_out': 0,
  'eval.ended': 0,
  'close.begins': 3,
  'close.ends': 3,
}

interface TripOptions {
  /** Code makes more calls, and the run continues as new as often as it may. */
  readonly continuesAsNew?: boolean
  /** While the last cell waits, the run is reset to a point before its first activity of this type. */
  readonly resetTo?: keyof typeof repliesAfterReset
}

/** Model replies that are paid again after a reset to an activity, including a summary and those of the sub-agent. */
const repliesAfterReset = { 'tool.approval': 6, insure: 2 } as const

/** The minimum that the configuration allows. */
const fewestHistoryEvents = 100

/** The calls of `before` fill the first execution, so that the next one has room for the work of the sub-agent. */
const manyFees: Fees = { before: 9, after: 40 }

const heldByReset = 'dinner'

/** The scenario of a cancelled trip; see above. */
export function trip({ continuesAsNew = false, resetTo }: TripOptions = {}): Scenario {
  const fees = continuesAsNew ? manyFees : { before: 0, after: 0 }
  const cells = cellsWith(fees)
  const turns = plannerTurns(cells)
  const feesOf = (time: keyof Fees) => Array.from({ length: fees[time] }, (_, n) => `${time} ${n}`)
  const effects = [
    ...effectsBefore,
    ...feesOf('before'),
    approvalRequest,
    effectOfClerk,
    'car',
    'stamp',
    ...effectsAfter,
    ...feesOf('after'),
    ...compensations,
  ]
  const turnCount = turns.length + clerkTurns.length
  return {
    name: ['trip', ...(continuesAsNew ? ['continued as new'] : []), ...(resetTo ? [`reset to ${resetTo}`] : [])].join(
      ' ',
    ),
    script: scriptWith(turns),
    config: fileURLToPath(new URL('../../../fixtures/trip.config.ts', import.meta.url)),
    environment: continuesAsNew ? { TEST_HISTORY_EVENTS: String(fewestHistoryEvents) } : {},
    heldEffects: [effectOfClerk, ...(resetTo === undefined ? [] : [heldByReset])],
    effects,
    lastEffects: compensations.length,
    minimumHits: continuesAsNew ? { ...minimumHits, 'journal.begins': 1, 'journal.stored': 1 } : minimumHits,
    async start({ env, ledger, during }: ScenarioServices) {
      const handle = await env.startAgent({ agent: 'planner', question: 'Book the trip.' })
      const run = env.ptc.handle(handle.workflowId)
      const approveWhenParked = async (): Promise<void> => {
        await Promise.all([approvalRequest, effectOfClerk].map((name) => ledger.waitForRequests(name)))
        await vi.waitUntil(async () => (await remainingContainers(handle.workflowId)).length === 0, pollOptions)
        await during('approval')
        await approveCall(ledger, env.ptc, approvalRequest)
        ledger.releaseReplies(effectOfClerk)
      }
      const resetWhenHeld = async (): Promise<void> => {
        if (resetTo === undefined) return
        await ledger.waitForRequests(heldByReset)
        await resetToCall(env, handle, resetTo)
        ledger.releaseReplies(heldByReset)
        if (resetTo !== 'tool.approval') return
        // The decision came after the point of the reset.
        await ledger.waitForRequests(approvalRequest, 2)
        await approveCall(ledger, env.ptc, approvalRequest)
      }
      const work = async (): Promise<ScenarioResult> => {
        await Promise.all([
          approveWhenParked(),
          ledger.waitForRequests(effectBeforePause).then(() => raiseBudget(run, () => during('pause'))),
          resetWhenHeld(),
          ledger.waitForRequests(compensations[0] ?? '').then(() => during('compensation')),
        ])
        // After a reset this is another execution.
        return env.agentResult(env.client.workflow.getHandle(handle.workflowId))
      }
      return { handle, result: work(), isReset: resetTo !== undefined }
    },
    expected(_result, { applied }) {
      expect(applied.flatMap(({ name }) => (name.startsWith('undo') ? [name] : []))).toEqual(compensations)
      return {
        effects,
        result: {
          status: 'gave_up',
          answer: reason,
          turns: turns.length,
          cells: cells.length,
          toolCalls: 7 + fees.before + fees.after,
          subagents: { runs: 1, turns: clerkTurns.length, cells: 1, toolCalls: 2 },
          compensation: { compensated: bookings.length, failed: 0, failures: [] },
          labels: { cost: 'charge in turn 1' },
        },
        end: { status: 'failed', outcome: 'gave_up' },
        texts: [firstText, insuranceText, lastText],
        childTexts: [clerkAnswer],
        turns: turnCount,
        replies: turnCount + 1 + (resetTo === undefined ? 0 : repliesAfterReset[resetTo]),
        // The sub-agent may ask its model while a call of the run is in progress.
        mayLoseReply: (fault) => fault !== 'kill-container',
      }
    },
    expectHistories({ chain, children }) {
      expect(children).toHaveLength(1)
      expect(completedActivityCount(chain, 'model.compact')).toBe(1)
      expect(completedActivityCount(children.flat(), 'model.turn')).toBeLessThanOrEqual(leaseTurns)
      // A reset repeats the update at its beginning.
      if (resetTo === undefined) {
        expect(recordedTurnsBefore([chain, ...children].flat(), budgetMessage)).toBe(budgetTurns)
      }
      if (continuesAsNew) {
        const isOften = chain.length >= 3 && isContinuedDuringCell(chain)
        expect(isOften || hasContinueAsNewTimedOut(chain), `${chain.length} executions`).toBe(true)
      }
    },
  }
}
