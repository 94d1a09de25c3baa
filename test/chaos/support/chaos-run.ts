import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { expect, vi } from 'vitest'
import type { ConversationAnswer } from '../../../src/common/runs/conversation.js'
import type { AgentResult } from '../../../src/common/runs/runs.js'
import { fileStream } from '../../../src/stream/index.js'
import type { ScriptedMessagesApi } from '../../../src/testing/index.js'
import { completedReplies } from '../../support/environment/completed-replies.js'
import { killContainersOf } from '../../support/environment/containers.js'
import { completedActivityCount, executionHistories, expectReplays } from '../../support/environment/histories.js'
import { type ProcessEnvironment, TestEnvironment } from '../../support/environment/test-environment.js'
import type { WorkerProcess } from '../../support/environment/worker-process.js'
import type { WorkerProcesses } from '../../support/environment/worker-processes.js'
import { temporaryFolder } from '../../support/folders.js'
import { Ledger } from '../../support/ledger.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { readEvents } from '../../support/stream/shown-text.js'
import { pollOptions } from '../../support/poll-options.js'
import { hasContinueAsNewTimedOut, isContinuedDuringCell } from './continue-as-new.js'
import { expectLiveStream } from './live-stream.js'
import { FailpointCrashes, type FailpointHit, killAtFailpoint } from './failpoint-crashes.js'
import { describePlan, type FaultPlan } from './fault-plan.js'
import { checkEffects, corruptValues, remainingContainers, remainingFiles, remainingProcesses } from './oracle.js'
import { approveCall, completeDeferredCall, raiseBudget, startOtherWorker } from './outside-services.js'
import { appendRunReport } from './report.js'
import {
  agentInput,
  approvedEffect,
  approvalRequest,
  deferredEffect,
  effects,
  expectedResult,
  historyEvents,
  lastSequentialEffect,
  onceEffect,
  script,
  secondAnswer,
  turnCount,
} from './scenario.js'

const config = fileURLToPath(new URL('../../fixtures/chaos.config.ts', import.meta.url))

/** The scenario under a fault plan: real server, containers and worker processes, a scripted model and the ledger. */
class ChaosRun {
  readonly #plan: FaultPlan
  readonly #struckFaults: string[] = []
  readonly #deadWorkers: WorkerProcess[] = []
  readonly #recoveries: number[] = []
  #ended = false

  constructor(plan: FaultPlan) {
    this.#plan = plan
  }

  /** Runs the scenario to completion, and compares its result with that of a run without faults. */
  async run(): Promise<readonly FailpointHit[]> {
    const begun = Date.now()
    const folder = await temporaryFolder()
    const [store, temporary, streams] = [join(folder, 'values'), join(folder, 'tmp'), join(folder, 'streams')]
    await Promise.all([mkdir(store), mkdir(temporary), mkdir(streams)])
    const ledger = await this.#startLedger()
    const crashes = new FailpointCrashes(this.#plan.crashes, folder)
    const env = await TestEnvironment.startProcesses({
      script,
      config,
      preload: killAtFailpoint,
      store: { kind: 'local', directory: store },
      stream: fileStream({ folder: streams }),
      environment: {
        LEDGER_URL: ledger.url,
        TEST_VALUES: store,
        TEST_STREAM: streams,
        TEST_HISTORY_EVENTS: String(historyEvents),
        ...(this.#plan.snapshotSteps === undefined ? {} : { TEST_SNAPSHOT_STEPS: String(this.#plan.snapshotSteps) }),
        TMPDIR: temporary,
      },
      initialWorkers: [],
    })
    const { api, client, workers } = env
    await workers.keepRunning({
      options: (index) => ({ environment: crashes.environment(index) }),
      onDeath: (worker) => {
        this.#deadWorkers.push(worker)
        void this.#measureRecovery(ledger, api)
      },
    })
    await startOtherWorker(env.taskQueue, ledger.url)
    const { handle, result: working } = await (this.#plan.isConversation ? converse(env) : runAgent(env))
    const run = env.ptc.handle(handle.workflowId)
    const reading = readEvents(run.stream())
    const onPaused = this.#plan.killsPausedWorker ? () => this.#killWorker(workers) : undefined
    const raising = ledger.waitForRequests(lastSequentialEffect).then(() => raiseBudget(run, onPaused))
    const completing = completeDeferredCall(ledger, env.ptc, deferredEffect)
    const approvingCall = approveCall(ledger, env.ptc, approvalRequest)
    const approving = this.#approveWhenParked(ledger, handle)
    const disturbing = this.#applyDisturbances(env, ledger, handle)
    const [result] = await Promise.all([working, completing, approvingCall, approving, raising])
    this.#ended = true
    const containersLeft = await remainingContainers(handle.workflowId)
    await disturbing
    const last = await workers.endRestarts()
    await last.shutdown()
    const [exit, log] = [await last.waitForExit(), last.log]
    this.#struckFaults.push(
      ...crashes.hits.filter(({ crashed }) => crashed).map(({ point, time }) => `${point}#${time}`),
    )

    // The effects in the ledger first: they matter most.
    const mail = result.answer.includes('outcome_unknown') ? 'outcome_unknown' : 'mail'
    const mailHappened = ledger.applied.some(({ name }) => name === onceEffect)
    const expectedEffects = [...effects, ...(mail === 'mail' || mailHappened ? [onceEffect] : [])]
    const verdict = {
      ...checkEffects(ledger.applied, expectedEffects),
      leaks: [
        ...containersLeft,
        ...remainingProcesses(env.taskQueue),
        ...remainingFiles(temporary),
        ...corruptValues(store, this.#deadWorkers.length),
      ],
    }
    const texts = this.#plan.isConversation ? `${result.answer}${secondAnswer}` : result.answer
    await expectLiveStream(await reading, run, texts, this.#struckFaults.length === 0)
    const chain = await executionHistories(client, handle)
    appendRunReport({
      faults: this.#struckFaults,
      ...(this.#plan.seed === undefined ? {} : { seed: this.#plan.seed }),
      effects: verdict.effects,
      duplicates: verdict.duplicates.length,
      lost: verdict.lost.length,
      leaks: verdict.leaks.length,
      recoveriesMs: this.#recoveries,
      seconds: (Date.now() - begun) / 1_000,
    })
    const context = `${describePlan(this.#plan)}\n${log.slice(-2_000)}`
    expect(verdict, context).toMatchObject({ duplicates: [], lost: [], leaks: [] })
    expect(result, context).toMatchObject(expectedResult(mail))
    const planned = this.#plan.crashes.length + this.#plan.disturbances.length + (this.#plan.killsPausedWorker ? 1 : 0)
    const kills = this.#struckFaults.filter((fault) => !['kill-container', 'freeze-worker'].includes(fault))
    const deaths = this.#deadWorkers.map(({ log: output }) => output.slice(-2_000)).join('\n\n')
    expect(this.#deadWorkers, `${describePlan(this.#plan)}: a worker died by itself:\n${deaths}`).toHaveLength(
      kills.length,
    )
    if (this.#struckFaults.length === 0) expect(mail).toBe('mail')
    expect(exit, context).toBe(0)
    // Planned faults must have happened, or the run proves nothing. Random ones may have come too late.
    if (this.#plan.seed === undefined) expect(this.#struckFaults, context).toHaveLength(planned)
    else expect(this.#struckFaults.length, context).toBeGreaterThan(0)
    // Each recorded turn is paid once. A reply that its worker lost before it was recorded is requested again.
    const paidReplies = completedReplies(api)
    const turns = turnCount + (this.#plan.isConversation ? 1 : 0)
    expect(completedActivityCount(chain, 'model.turn')).toBe(turns)
    expect(paidReplies).toBeGreaterThanOrEqual(turns)
    expect(paidReplies).toBeLessThanOrEqual(
      turns + this.#struckFaults.filter((hit) => !/^(tool|advance|step)/.test(hit)).length,
    )
    const isContinued = this.#plan.seed === undefined ? isContinuedDuringCell(chain) : chain.length > 1
    expect(
      isContinued || hasContinueAsNewTimedOut(chain),
      'the history should continue as new in the middle of a cell',
    ).toBe(true)
    await expectReplays(client, handle)
    return crashes.hits
  }

  async #startLedger(): Promise<Ledger> {
    const ledger = await Ledger.start()
    ledger.holdReplies(approvedEffect)
    for (const { name, count } of this.#plan.droppedReplies) ledger.dropReplies(name, count)
    return ledger
  }

  async #killWorker(workers: WorkerProcesses): Promise<void> {
    await vi.waitUntil(() => strikeWorker(workers, (worker) => worker.kill('SIGKILL')), pollOptions)
    this.#struckFaults.push('kill-worker')
  }

  /** Replies to the approval when it has outlasted the sandbox. */
  async #approveWhenParked(ledger: Ledger, { workflowId }: WorkflowHandle): Promise<void> {
    await ledger.waitForRequests(approvedEffect)
    await vi.waitUntil(async () => (await remainingContainers(workflowId)).length === 0, pollOptions)
    ledger.releaseReplies(approvedEffect)
  }

  /** Measures the time from the death of a worker to the next request to the ledger. */
  async #measureRecovery(ledger: Ledger, api: ScriptedMessagesApi): Promise<void> {
    const died = Date.now()
    const requests = api.requests.length
    await Promise.race([ledger.nextRequest(), api.waitForRequest(({ number }) => number > requests)]).catch(
      () => undefined,
    )
    if (!this.#ended) this.#recoveries.push(Date.now() - died)
  }

  async #applyDisturbances(env: ProcessEnvironment, ledger: Ledger, handle: WorkflowHandle): Promise<void> {
    await Promise.all(
      this.#plan.disturbances.map((disturbance) => this.#applyDisturbance(disturbance, env, ledger, handle)),
    )
  }

  async #applyDisturbance(
    { kind, afterRequests, delayMs, forMs }: FaultPlan['disturbances'][number],
    { workers }: ProcessEnvironment,
    ledger: Ledger,
    { workflowId }: WorkflowHandle,
  ): Promise<void> {
    while (ledger.requests.length < afterRequests) await ledger.nextRequest()
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    const strike = {
      'kill-worker': () => strikeWorker(workers, (worker) => worker.kill('SIGKILL')),
      'freeze-worker': () => strikeWorker(workers, (worker) => freeze(worker, forMs)),
      'kill-container': async () => (await killContainersOf(workflowId)) > 0,
    }[kind]
    // Waits while the worker has not started or the sandbox is parked.
    let hasStruck = false
    while (!hasStruck && !this.#ended) {
      hasStruck = await strike()
      if (!hasStruck) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    if (hasStruck) this.#struckFaults.push(kind)
  }
}

type ScenarioResult = Pick<AgentResult | ConversationAnswer, 'status' | 'answer' | 'turns' | 'cells' | 'toolCalls'>

interface WorkingScenario {
  readonly handle: WorkflowHandle
  readonly result: Promise<ScenarioResult>
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

/** False when no worker runs. */
async function strikeWorker(
  { current }: WorkerProcesses,
  strike: (worker: WorkerProcess) => Promise<void>,
): Promise<boolean> {
  if (current) await strike(current)
  return current !== undefined
}

/** Stops the process for a while (SIGSTOP). */
async function freeze(worker: WorkerProcess, milliseconds: number): Promise<void> {
  worker.sendSignal('SIGSTOP')
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  worker.sendSignal('SIGCONT')
}

/** Runs the scenario under these faults. Expects the same answer, each effect once, nothing left, and every fault. */
export async function expectSurvives(plan: FaultPlan): Promise<void> {
  await runScenario(plan)
}

/** As {@link expectSurvives}; returns the failpoints that the workers passed. */
export function runScenario(plan: FaultPlan): Promise<readonly FailpointHit[]> {
  return new ChaosRun(plan).run()
}
