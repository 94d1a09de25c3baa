import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { expect, vi } from 'vitest'
import type { Failpoint } from '../../../../src/common/failpoint.js'
import type { AgentInput, AgentResult } from '../../../../src/common/run/runs.js'
import { pollOptions } from '../../../support/poll-options.js'
import { call, code, text, turn } from '../../../support/script.js'
import type { ProcessEnvironment } from '../../../support/environment/test-environment.js'
import type { Ledger } from '../../../support/ledger.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'
import { hasContinueAsNewTimedOut, isContinuedDuringCell } from '../continue-as-new.js'
import { remainingContainers } from '../oracle.js'
import { approveCall, completeDeferredCall, raiseBudget, startOtherWorker } from './outside-services.js'
import type { Scenario, ScenarioResult, ScenarioServices, WorkingScenario } from './scenario.js'

const config = fileURLToPath(new URL('../../../fixtures/chaos.config.ts', import.meta.url))

/**
 * The scenario: sequential, parallel and local calls, a tool that fails with ToolError, a large value, an approval that
 * takes longer than the idle timeout of a sandbox, a continue-as-new in the middle of a cell, variables shared by
 * cells, a direct call together with a cell, a `once` call, a deferred call, a call of another worker, a call that a
 * person approves, a budget that pauses the run after the second turn until it is raised, and input data. Its live
 * stream is read at the same time.
 */
const cells = [
  `
import asyncio
done = [(await charge(name="a"))["done"]]
done += [r["done"] for r in await asyncio.gather(charge(name="b"), charge(name="c"))]
try:
    await refuse(name="this")
except ToolError as no:
    done.append(str(no))
large = await fetch_text(characters=200_000)
print(done, len(large))
`,
  `
done.append(sum([await double(n=n) for n in range(5)]))
done.append((await approve(name="d"))["done"])
for n in range(8):
    done.append((await charge(name=f"e{n}"))["done"])
try:
    done.append((await send_once(name="mail"))["done"])
except ToolOutcomeUnknown as unknown:
    done.append(unknown.status)
print(len(done), large[-3:])
`,
  `
done.append((await charge(name=input_data["last"]))["done"])
done.append((await confirm(name="h"))["done"])
done.append((await charge_elsewhere(name="i"))["done"])
done.append((await charge_approved(name="j"))["done"])
print(",".join(map(str, done)), len(large))
`,
]

/** The answer to the second message of a conversation. */
const secondAnswer = 'That was all.'

const script = [
  turn(code(cells[0] ?? '')),
  turn(code(cells[1] ?? '')),
  turn(call('charge', { name: 'g' }), code(cells[2] ?? '')),
  turn(text('{{last_tool_result}}')),
  // Only in a conversation: the answer to its second message.
  turn(text(secondAnswer)),
]

const agentInput = {
  agent: 'clerk',
  input: { last: 'f' },
  context: { user: 'ann', tenant: 'acme' },
} satisfies Partial<AgentInput>

const sequentialEffects = ['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'] as const

/** The run pauses soon after this effect. */
const lastSequentialEffect = 'e7'

const effects = ['a', 'b', 'c', 'd', ...sequentialEffects, 'f', 'g', 'h', 'i', 'ask j', 'j'] as const

/** Name of the deferred effect. */
const deferredEffect = 'h'

/** Name of the effect that notifies people of a call that waits for approval. */
const approvalRequest = 'ask j'

/** Name of the `once` effect: applied once, or its outcome is unknown. */
const onceEffect = 'mail'

/** Turns of the first message. */
const turnCount = script.length - 1

/**
 * Number of events after which the run continues as new: in the middle of the second cell. Without faults this is
 * between its calls e0 and e7: 60 events precede the approval, during which the session must be parked, and a slow
 * machine or a dead worker adds some.
 */
const historyEvents = 100

/** Name of the effect whose reply comes when the sandbox has been parked. */
const approvedEffect = 'd'

/**
 * The minimum number of hits of each failpoint in the scenario without faults: all of them except one or two, because
 * the number of steps for parallel results may differ between runs. `no-faults.test.ts` asserts this. 0: the failpoint
 * is hit only after another fault, or not in this scenario.
 */
const minimumHits: Readonly<Record<Failpoint, number>> = {
  'config.loaded': 1,
  'model.begins': 4,
  'model.replied': 4,
  'turn.stored': 4,
  'messages.summarized': 0,
  'messages.compacted': 0,
  'session.started': 0,
  'open.begins': 2,
  'container.created': 2,
  'container.started': 2,
  'open.ends': 2,
  'step.begins': 26,
  'sandbox.attached': 0,
  'step.repeated': 10,
  'frame.sent': 39,
  'step.result': 35,
  'step.ends': 25,
  'effects.begin': 0,
  'effects.stored': 0,
  'tool.begins': 23,
  'tool.ran': 22,
  'tool.ends': 17,
  'approval.requested': 1,
  'compensation.begins': 0,
  'compensation.ran': 0,
  'journal.begins': 2,
  'journal.stored': 2,
  'value.written': 9,
  'value.published': 9,
  'memory.stored': 0,
  'memory.written': 0,
  'snapshot.begins': 0,
  'snapshot.stored': 0,
  'snapshot.restored': 0,
  'files.begins': 0,
  'files.stored': 0,
  'eval.reserved': 0,
  'eval.started': 0,
  'eval.timed_out': 0,
  'eval.ended': 0,
  'close.begins': 2,
  'close.ends': 2,
}

interface CallsOptions {
  /** The scenario is the first message of a conversation. Default: it is its own run. */
  readonly isConversation?: boolean
  /** Number of steps between snapshots; default: more than the scenario has. */
  readonly snapshotSteps?: number
}

/** The scenario of calls; see above. */
export function calls({ isConversation = false, snapshotSteps }: CallsOptions = {}): Scenario {
  return {
    name: isConversation ? 'conversation' : 'calls',
    script,
    config,
    environment: {
      TEST_HISTORY_EVENTS: String(historyEvents),
      ...(snapshotSteps === undefined ? {} : { TEST_SNAPSHOT_STEPS: String(snapshotSteps) }),
    },
    heldEffects: [approvedEffect],
    effects,
    lastEffects: 2,
    minimumHits,
    async start({ env, ledger, during }: ScenarioServices) {
      await startOtherWorker(env.taskQueue, ledger.url)
      const { handle, result } = await (isConversation ? converse(env) : runAgent(env))
      const run = env.ptc.handle(handle.workflowId)
      const work = async (): Promise<ScenarioResult> => {
        const [ended] = await Promise.all([
          result,
          completeDeferredCall(ledger, env.ptc, deferredEffect),
          approveCall(ledger, env.ptc, approvalRequest),
          releaseWhenParked(ledger, handle),
          ledger.waitForRequests(lastSequentialEffect).then(() => raiseBudget(run, () => during('pause'))),
        ])
        return ended
      }
      return { handle, result: work() }
    },
    expected({ answer }, ledger, isComplete) {
      const isMailUnknown = answer.includes('outcome_unknown')
      if (isComplete) expect(isMailUnknown).toBe(false)
      const mailHappened = ledger.applied.some(({ name }) => name === onceEffect)
      const turns = turnCount + (isConversation ? 1 : 0)
      return {
        effects: [...effects, ...(!isMailUnknown || mailHappened ? [onceEffect] : [])],
        result: expectedResult(isMailUnknown ? 'outcome_unknown' : onceEffect),
        end: { status: 'completed' },
        texts: isConversation ? [answer, secondAnswer] : [answer],
        turns,
        replies: turns,
        mayLoseReply: (fault) => !/^(tool|step)/.test(fault),
      }
    },
    expectHistories({ chain }, isRandom) {
      const isContinued = isRandom ? chain.length > 1 : isContinuedDuringCell(chain)
      expect(
        isContinued || hasContinueAsNewTimedOut(chain),
        'the history should continue as new in the middle of a cell',
      ).toBe(true)
    },
  }
}

async function runAgent(env: ProcessEnvironment): Promise<WorkingScenario> {
  const handle = await env.startAgent(agentInput)
  return { handle, result: env.agentResult(handle) }
}

/** The same scenario as the first message of a conversation, with another message in its queue; then it is closed. */
async function converse(env: ProcessEnvironment): Promise<WorkingScenario> {
  const conversation = env.ptc.conversation(uniqueName('chaos'), agentInput)
  const handle = env.sessionHandle(conversation.name, conversation.workflowId)
  const first = await conversation.send('go')
  const second = await conversation.send('And now?')
  const work = async (): Promise<ScenarioResult> => {
    const result = await first.answer()
    expect(await second.answer()).toMatchObject({ status: 'answered', answer: secondAnswer, message: 2, turns: 1 })
    await conversation.close()
    return result
  }
  return { handle, result: work() }
}

/** Replies to the effect when it has outlasted the sandbox. */
async function releaseWhenParked(ledger: Ledger, { workflowId }: WorkflowHandle): Promise<void> {
  await ledger.waitForRequests(approvedEffect)
  await vi.waitUntil(async () => (await remainingContainers(workflowId)).length === 0, pollOptions)
  ledger.releaseReplies(approvedEffect)
}

function expectedResult(mailOutcome: 'mail' | 'outcome_unknown'): Partial<AgentResult> {
  const done = ['a,b,c,never this', 20, 'd', ...sequentialEffects, mailOutcome, 'f', 'h', 'i', 'j'].join(',')
  return { status: 'answered', answer: `${done} 200000`, turns: turnCount, cells: cells.length, toolCalls: 25 }
}
