import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { Failpoint } from '../../../src/common/failpoint.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { childWorkflowIds, executionHistories, expectReplays } from '../../support/environment/histories.js'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { startCrashingWorkers } from '../support/crashing-workers.js'
import type { Crash } from '../support/failpoint-crashes.js'
import { checkEffects, corruptValues, remainingContainers, remainingProcesses } from '../support/oracle.js'

const config = fileURLToPath(new URL('../../fixtures/subagents.config.ts', import.meta.url))

/** Code of an agent and of its sub-agent in one sandbox, which charge in code and directly. */
const script = {
  conversations: [
    {
      match: { firstUserText: { equals: 'go' } },
      turns: [
        turn(code('done = [(await charge(name="a"))["done"]]')),
        turn(call('deputy', { task: 'd' }), call('charge', { name: 'b' })),
        turn(code('done.append((await charge(name="c"))["done"])\nprint(",".join(done))')),
        answerResult,
      ],
    },
    {
      match: { firstUserText: { equals: 'd' } },
      turns: [
        turn(code('for n in (1, 2):\n    done.append((await charge(name=f"d{n}"))["done"])')),
        turn(call('charge', { name: 'e' })),
        turn(code('print(len(done))')),
        answerResult,
      ],
    },
  ],
}

const effects = ['a', 'b', 'c', 'd1', 'd2', 'e']
const answer = { status: 'answered', answer: 'a,d1,d2,c', turns: 4 }

interface Scenario {
  /** Handles of the runs and the session; the owner of the sandbox is the last one. */
  readonly handles: readonly WorkflowHandle[]
  readonly work: Promise<object>
}

/** A run whose sub-agent uses its sandbox. */
async function runAgent(env: ProcessEnvironment): Promise<Scenario> {
  const handle = await env.startAgent({ agent: 'head' })
  return { handles: [handle], work: env.agentResult(handle) }
}

/** A conversation and its sub-agent, in a named session that exists before and after. */
async function converse(env: ProcessEnvironment): Promise<Scenario> {
  const session = uniqueName('books')
  const conversation = env.ptc.conversation(uniqueName('talk'), { agent: 'head', session })
  const talk = env.sessionHandle(conversation.name, conversation.workflowId)
  const work = async (): Promise<object> => {
    const answered = await conversation.ask('go')
    await conversation.close()
    const { outcome } = await env.ptc.sessions.execute(session, 'print(len(done))', { mustExist: true })
    expect(outcome).toMatchObject({ status: 'ok', output: '4\n' })
    await env.ptc.sessions.close(session)
    return answered
  }
  return { handles: [talk, env.sessionHandle(session)], work: work() }
}

/** Runs the scenario. Expects the same answer, each effect once, and no remains. */
async function expectSurvives(
  start: (env: ProcessEnvironment) => Promise<Scenario>,
  ...crashes: readonly Crash[]
): Promise<void> {
  const store = await temporaryFolder()
  const { env, ledger, deaths } = await startCrashingWorkers(crashes, { config, script, store })
  const { handles, work } = await start(env)
  const result = await work
  const containers = (await Promise.all(handles.map(({ workflowId }) => remainingContainers(workflowId)))).flat()
  const last = await env.workers.endRestarts()
  await last.shutdown()
  expect(await last.waitForExit(), last.log).toBe(0)
  const verdict = {
    ...checkEffects(ledger.applied, effects),
    leaks: [...containers, ...remainingProcesses(env.taskQueue), ...corruptValues(store, deaths())],
  }
  expect(verdict, last.log).toMatchObject({ duplicates: [], lost: [], leaks: [] })
  expect(result).toMatchObject(answer)
  expect(deaths()).toBe(crashes.length)
  const [run] = handles
  const chain = run ? await executionHistories(env.client, run) : []
  const children = childWorkflowIds(chain)
  expect(children).toHaveLength(1)
  const all = [...handles, ...children.map((id) => env.client.workflow.getHandle(id))]
  for (const each of all) await expectReplays(env.client, each)
}

type Hits = readonly (readonly [Failpoint, number])[]

const runHits = [
  ['model.replied', 3],
  ['tool.ran', 3],
  ['tool.ran', 6],
  ['step.result', 3],
  ['step.ends', 5],
  ['container.started', 1],
  ['close.begins', 1],
] as const satisfies Hits

const sessionHits = [
  ['session.started', 1],
  ['config.loaded', 2],
  ['config.loaded', 3],
  ['model.replied', 3],
  ['tool.ran', 3],
  ['step.result', 3],
  ['close.begins', 1],
] as const satisfies Hits

describeDocker('a shared sandbox', () => {
  describe('with a run and its sub-agent', () => {
    it('a run and its sub-agent share a sandbox without faults', () => expectSurvives(runAgent))

    it.each(runHits)('a run and its sub-agent with one sandbox survive kill -9 at %s, hit %i', (point, hit) =>
      expectSurvives(runAgent, { point, hit }),
    )
  })

  describe('with a named session, a conversation and its sub-agent', () => {
    it('a named session, a conversation and its sub-agent share a sandbox without faults', () =>
      expectSurvives(converse))

    it.each(sessionHits)(
      'a named session, a conversation and its sub-agent survive kill -9 at %s, hit %i',
      (point, hit) => expectSurvives(converse, { point, hit }),
    )
  })
})
