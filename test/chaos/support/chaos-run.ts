import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { expect, onTestFinished } from 'vitest'
import { createDataConverter } from '../../../src/client/index.js'
import type { AgentResult } from '../../../src/common/runs.js'
import { type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { completedReplies } from '../../support/environment/completed-replies.js'
import { killContainersOf, removeContainersOf } from '../../support/environment/containers.js'
import { executionHistories, completedActivityCount, expectReplays } from '../../support/environment/histories.js'
import { Ledger } from '../../support/ledger.js'
import { connectClient, uniqueName } from '../../support/temporal/shared-server.js'
import { hasContinueAsNewTimedOut, isContinuedDuringCell } from './continue-as-new.js'
import { corruptValues, remainingContainers, remainingFiles, checkEffects, remainingProcesses } from './oracle.js'
import { describePlan, type FaultPlan } from './fault-plan.js'
import { appendRunReport } from './report.js'
import { approvalMs, effects, expectedResult, historyEvents, onceEffect, script, turnCount } from './scenario.js'
import { SupervisedWorker } from './supervised-worker.js'

const config = fileURLToPath(new URL('../../fixtures/chaos.config.ts', import.meta.url))

Runtime.install({ logger: new DefaultLogger('WARN') })

/** The scenario under a fault plan: real server, containers and worker processes, a scripted model and the ledger. */
class ChaosRun {
  readonly #plan: FaultPlan
  readonly #taskQueue = uniqueName('chaos')
  readonly #workflowId = uniqueName('chaos-agent')
  readonly #struckFaults: string[] = []
  readonly #deaths: number[] = []
  readonly #recoveries: number[] = []
  #ended = false

  constructor(plan: FaultPlan) {
    this.#plan = plan
  }

  /** Runs the scenario to completion, and compares its result with that of a run without faults. */
  async run(): Promise<void> {
    const begun = Date.now()
    const folder = await mkdtemp(join(tmpdir(), 'ptc-chaos-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
    const [store, temporary] = [join(folder, 'values'), join(folder, 'tmp')]
    await Promise.all([mkdir(store), mkdir(temporary)])
    const [ledger, api] = await Promise.all([this.#startLedger(), startScriptedMessagesApi({ script })])
    const client = await connectClient(await createDataConverter({ kind: 'local', directory: store }))
    const workers = await SupervisedWorker.start({
      config,
      taskQueue: this.#taskQueue,
      folder,
      crashes: this.#plan.crashes,
      onDeath: () => void this.#measureRecovery(ledger, api),
      environment: {
        LEDGER_URL: ledger.url,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: 'test-key',
        TEST_VALUES: store,
        TEST_HISTORY_EVENTS: String(historyEvents),
        ...(this.#plan.snapshotSteps === undefined ? {} : { TEST_SNAPSHOT_STEPS: String(this.#plan.snapshotSteps) }),
        TMPDIR: temporary,
      },
    })
    onTestFinished(async () => {
      await workers.killAll()
      await Promise.all([api.close(), client.connection.close()])
    })
    const options = { workflowId: this.#workflowId, taskQueue: this.#taskQueue, args: [{ question: 'go' }] }
    const handle = await client.workflow.start('agent', options)
    onTestFinished(() => removeContainersOf(this.#workflowId))
    const disturbing = this.#applyDisturbances(workers, ledger)
    const result = (await handle.result()) as AgentResult
    this.#ended = true
    const containersLeft = await remainingContainers(this.#workflowId)
    await disturbing
    const { exit, log } = await workers.close()
    const passed = workers.hits
    this.#struckFaults.push(...passed.filter(({ crashed }) => crashed).map(({ point, time }) => `${point}#${time}`))

    // The effects in the ledger first: they matter most.
    const mail = result.answer.includes('outcome_unknown') ? 'outcome_unknown' : 'mail'
    const mailHappened = ledger.applied.some(({ name }) => name === onceEffect)
    const expectedEffects = [...effects, ...(mail === 'mail' || mailHappened ? [onceEffect] : [])]
    const verdict = {
      ...checkEffects(ledger.applied, expectedEffects),
      leaks: [
        ...containersLeft,
        ...remainingProcesses(this.#taskQueue),
        ...remainingFiles(temporary),
        ...corruptValues(store, this.#deaths.length),
      ],
    }
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
    if (this.#struckFaults.length === 0) expect(mail).toBe('mail')
    expect(exit, context).toBe(0)
    // Planned faults must have happened, or the run proves nothing. Random ones may have come too late.
    const planned = this.#plan.crashes.length + this.#plan.disturbances.length
    if (this.#plan.seed === undefined) expect(this.#struckFaults, context).toHaveLength(planned)
    else expect(this.#struckFaults.length, context).toBeGreaterThan(0)
    // Each recorded turn is paid once. A reply that its worker lost before it was recorded is requested again.
    const paidReplies = completedReplies(api)
    expect(completedActivityCount(chain, 'model.turn')).toBe(turnCount)
    expect(paidReplies).toBeGreaterThanOrEqual(turnCount)
    expect(paidReplies).toBeLessThanOrEqual(
      turnCount + this.#struckFaults.filter((hit) => !/^(tool|advance|step)/.test(hit)).length,
    )
    const isContinued = this.#plan.seed === undefined ? isContinuedDuringCell(chain) : chain.length > 1
    expect(
      isContinued || hasContinueAsNewTimedOut(chain),
      'the history should continue as new in the middle of a cell',
    ).toBe(true)
    await expectReplays(client, handle)
  }

  async #startLedger(): Promise<Ledger> {
    const ledger = await Ledger.start()
    ledger.delayReplies('d', approvalMs)
    for (const { name, count } of this.#plan.droppedReplies) ledger.dropReplies(name, count)
    return ledger
  }

  /** Measures the time from the death of a worker to the next request to the ledger. */
  async #measureRecovery(ledger: Ledger, api: ScriptedMessagesApi): Promise<void> {
    const died = Date.now()
    this.#deaths.push(died)
    const requests = api.requests.length
    await Promise.race([ledger.nextRequest(), api.waitForRequest(({ number }) => number > requests)]).catch(
      () => undefined,
    )
    if (!this.#ended) this.#recoveries.push(Date.now() - died)
  }

  async #applyDisturbances(workers: SupervisedWorker, ledger: Ledger): Promise<void> {
    await Promise.all(
      this.#plan.disturbances.map((disturbance) => this.#applyDisturbance(disturbance, workers, ledger)),
    )
  }

  async #applyDisturbance(
    { kind, afterRequests, delayMs, forMs }: FaultPlan['disturbances'][number],
    workers: SupervisedWorker,
    ledger: Ledger,
  ): Promise<void> {
    while (ledger.requests.length < afterRequests) await ledger.nextRequest()
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    const strike = {
      'kill-worker': () => workers.kill(),
      'freeze-worker': () => workers.freeze(forMs),
      'kill-container': async () => (await killContainersOf(this.#workflowId)) > 0,
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

/** Runs the scenario under these faults. Expects the same answer, each effect once, nothing left, and every fault. */
export function expectSurvives(plan: FaultPlan): Promise<void> {
  return new ChaosRun(plan).run()
}
