import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { expect, vi } from 'vitest'
import { fileStream } from '../../../src/stream/index.js'
import type { ScriptedMessagesApi } from '../../../src/testing/index.js'
import { completedReplies } from '../../support/environment/completed-replies.js'
import { killContainersOf } from '../../support/environment/containers.js'
import {
  childWorkflowIds,
  completedActivityCount,
  executionHistories,
  expectReplays,
} from '../../support/environment/histories.js'
import { type ProcessEnvironment, TestEnvironment } from '../../support/environment/test-environment.js'
import type { WorkerProcess } from '../../support/environment/worker-process.js'
import type { WorkerProcesses } from '../../support/environment/worker-processes.js'
import { temporaryFolder } from '../../support/folders.js'
import { Ledger } from '../../support/ledger.js'
import { readEvents } from '../../support/stream/shown-text.js'
import { pollOptions } from '../../support/poll-options.js'
import { expectLiveStream } from './live-stream.js'
import { FailpointCrashes, type FailpointHit, killAtFailpoint } from './failpoint-crashes.js'
import { describePlan, type FaultPlan } from './fault-plan.js'
import { checkEffects, corruptValues, remainingContainers, remainingFiles, remainingProcesses } from './oracle.js'
import { appendRunReport } from './report.js'
import type { Moment } from './scenarios/scenario.js'

/** A scenario under a fault plan: real server, containers and worker processes, a scripted model and the ledger. */
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
    const { scenario } = this.#plan
    const folder = await temporaryFolder()
    const [store, temporary, streams] = [join(folder, 'values'), join(folder, 'tmp'), join(folder, 'streams')]
    await Promise.all([mkdir(store), mkdir(temporary), mkdir(streams)])
    const ledger = await this.#startLedger()
    const crashes = new FailpointCrashes(this.#plan.crashes, folder)
    const env = await TestEnvironment.startProcesses({
      script: scenario.script,
      config: scenario.config,
      preload: killAtFailpoint,
      store: { kind: 'local', directory: store },
      stream: fileStream({ folder: streams }),
      environment: {
        LEDGER_URL: ledger.url,
        TEST_VALUES: store,
        TEST_STREAM: streams,
        ...scenario.environment,
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
    const during = async (moment: Moment): Promise<void> => {
      if (moment === this.#plan.killsWorkerDuring) await this.#killWorker(workers)
    }
    const { handle, result: working, isReset } = await scenario.start({ env, ledger, during })
    const run = env.ptc.handle(handle.workflowId)
    const reading = readEvents(run.stream())
    const disturbing = this.#applyDisturbances(env, ledger, handle)
    const result = await working
    const events = await (isReset ? readEvents(run.stream()) : reading)
    this.#ended = true
    const chain = await executionHistories(client, handle)
    const childIds = childWorkflowIds(chain)
    const containersLeft = (await Promise.all([handle.workflowId, ...childIds].map(remainingContainers))).flat()
    await disturbing
    const last = await workers.endRestarts()
    await last.shutdown()
    const [exit, log] = [await last.waitForExit(), last.log]
    this.#struckFaults.push(
      ...crashes.hits.filter(({ crashed }) => crashed).map(({ point, time }) => `${point}#${time}`),
    )

    // The effects in the ledger first: they matter most.
    const isComplete = this.#struckFaults.length === 0
    const expected = scenario.expected(result, ledger, isComplete)
    const verdict = {
      ...checkEffects(ledger.applied, expected.effects),
      leaks: [
        ...containersLeft,
        ...remainingProcesses(env.taskQueue),
        ...remainingFiles(temporary),
        ...corruptValues(store, this.#deadWorkers.length),
      ],
    }
    await expectLiveStream(events, run, { ...expected, isComplete })
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
    expect(result, context).toMatchObject(expected.result)
    const planned = this.#plan.crashes.length + this.#plan.disturbances.length + (this.#plan.killsWorkerDuring ? 1 : 0)
    const kills = this.#struckFaults.filter((fault) => !['kill-container', 'freeze-worker'].includes(fault))
    const deaths = this.#deadWorkers.map(({ log: output }) => output.slice(-2_000)).join('\n\n')
    expect(this.#deadWorkers, `${describePlan(this.#plan)}: a worker died by itself:\n${deaths}`).toHaveLength(
      kills.length,
    )
    expect(exit, context).toBe(0)
    // Planned faults must have happened, or the run proves nothing. Random faults may have come too late.
    if (this.#plan.seed === undefined) expect(this.#struckFaults, context).toHaveLength(planned)
    else expect(this.#struckFaults.length, context).toBeGreaterThan(0)
    // Each recorded turn is paid once. A reply that its worker lost before it was recorded is requested again.
    const children = await Promise.all(childIds.map((workflowId) => executionHistories(client, { workflowId })))
    expect(completedActivityCount([chain, ...children].flat(), 'model.turn')).toBe(expected.turns)
    const paidReplies = completedReplies(api)
    expect(paidReplies).toBeGreaterThanOrEqual(expected.replies)
    expect(paidReplies).toBeLessThanOrEqual(
      expected.replies + this.#struckFaults.filter((fault) => expected.mayLoseReply(fault)).length,
    )
    scenario.expectHistories({ chain, children }, this.#plan.seed !== undefined)
    for (const workflowId of childIds) {
      const child = env.ptc.handle(workflowId)
      const { childTexts: texts = [] } = expected
      await expectLiveStream(await readEvents(child.stream()), child, {
        end: { status: 'completed' },
        texts,
        isComplete,
      })
    }
    for (const workflowId of [handle.workflowId, ...childIds]) await expectReplays(client, { workflowId })
    return crashes.hits
  }

  async #startLedger(): Promise<Ledger> {
    const ledger = await Ledger.start()
    for (const name of this.#plan.scenario.heldEffects) ledger.holdReplies(name)
    for (const { name, count } of this.#plan.droppedReplies) ledger.dropReplies(name, count)
    return ledger
  }

  async #killWorker(workers: WorkerProcesses): Promise<void> {
    await vi.waitUntil(() => strikeWorker(workers, (worker) => worker.kill('SIGKILL')), pollOptions)
    this.#struckFaults.push('kill-worker')
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

/** @returns false when no worker runs */
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

/** Runs the scenario under these faults. Expects the same answer, each effect once, no remains, and every fault. */
export async function expectSurvives(plan: FaultPlan): Promise<void> {
  await runScenario(plan)
}

/** Like {@link expectSurvives}; returns the failpoints that the workers passed. */
export function runScenario(plan: FaultPlan): Promise<readonly FailpointHit[]> {
  return new ChaosRun(plan).run()
}
