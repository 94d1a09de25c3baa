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
 * The scenario: sequential and parallel calls, local calls of all kinds of effects, a tool that fails with ToolError, a
 * large value, an approval that takes longer than the idle timeout of a sandbox, a continue-as-new in the middle of a
 * cell, variables shared by cells, a direct call together with a cell, `once` calls, a deferred call, a call of another
 * worker, a call that a person approves, a budget that pauses the run after the second turn until it is raised, and
 * input data. Its live stream is read at the same time.
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
async def once(call):
    try:
        return (await call)["done"]
    except ToolOutcomeUnknown as unknown:
        return unknown.status
done.append(sum([await double(n=n) for n in range(5)]))
done.append((await mark(name="k"))["done"])
done.append(await once(mark_once(name="l")))
m, n, _ = await asyncio.gather(mark(name="m"), once(mark_once(name="n")), double(n=0))
done += [m["done"], n]
done.append((await approve(name="d"))["done"])
for n in range(8):
    done.append((await charge(name=f"e{n}"))["done"])
done.append(await once(send_once(name="mail")))
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

const effects = ['a', 'b', 'c', 'k', 'm', 'd', ...sequentialEffects, 'f', 'g', 'h', 'i', 'ask j', 'j'] as const

/** Results of the calls of the code, in their order. */
const allDone = ['a,b,c,never this,20,k,l,m,n,d', ...sequentialEffects, 'mail,f,h,i,j'].join(',').split(',')

/** Name of the deferred effect. */
const deferredEffect = 'h'

/** Name of the effect that notifies people of a call that waits for approval. */
const approvalRequest = 'ask j'

/** Names of the `once` effects: each is applied once, or its outcome is unknown. The first two are local. */
const onceEffects = ['l', 'n', 'mail'] as const

type OnceEffect = (typeof onceEffects)[number]

/** Outcome of a `once` call in the answer of a run. */
const unknownOutcome = 'outcome_unknown'

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
  'step.begins': 30,
  'sandbox.attached': 0,
  'step.repeated': 13,
  'frame.sent': 47,
  'step.result': 42,
  'step.ends': 28,
  'effects.begin': 3,
  'effects.stored': 3,
  'tool.begins': 28,
  'tool.ran': 27,
  'tool.ends': 17,
  'approval.requested': 1,
  'compensation.begins': 0,
  'compensation.ran': 0,
  'journal.begins': 2,
  'journal.stored': 2,
  'value.written': 10,
  'value.published': 10,
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
  /** Idle time in seconds after which the session is parked; default: 1. */
  readonly parkSeconds?: number
}

/** The scenario of calls; see above. */
export function calls({ isConversation = false, snapshotSteps, parkSeconds }: CallsOptions = {}): Scenario {
  return {
    name: isConversation ? 'conversation' : 'calls',
    script,
    config,
    environment: {
      TEST_HISTORY_EVENTS: String(historyEvents),
      ...(snapshotSteps === undefined ? {} : { TEST_SNAPSHOT_STEPS: String(snapshotSteps) }),
      ...(parkSeconds === undefined ? {} : { TEST_PARK_SECONDS: String(parkSeconds) }),
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
      const outcomes = answer.split(',')
      const unknown = onceEffects.filter((name) => outcomes[allDone.indexOf(name)] === unknownOutcome)
      if (isComplete) expect(unknown).toEqual([])
      const applied = ledger.applied.map(({ name }) => name)
      const turns = turnCount + (isConversation ? 1 : 0)
      return {
        // An effect whose outcome is unknown has happened once, or not at all.
        effects: [...effects, ...onceEffects.filter((name) => !unknown.includes(name) || applied.includes(name))],
        result: expectedResult(unknown),
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

function expectedResult(unknown: readonly OnceEffect[]): Partial<AgentResult> {
  const outcomes = allDone.map((name) => (unknown.some((each) => each === name) ? unknownOutcome : name))
  const answer = `${outcomes.join(',')} 200000`
  return { status: 'answered', answer, turns: turnCount, cells: cells.length, toolCalls: 30 }
}
