import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DefaultLogger, Runtime } from '@temporalio/worker'
import { expect, onTestFinished } from 'vitest'
import { createDataConverter } from '../../../src/client/index.js'
import type { AgentResult } from '../../../src/common/runs.js'
import { type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { answeredTurns } from '../../support/answered-turns.js'
import { killContainersOf, removeContainersOf } from '../../support/containers.js'
import { chainOf, completedCount } from '../../support/histories.js'
import { Ledger } from '../../support/ledger.js'
import { replay } from '../../support/replay.js'
import { connectClient, uniqueName } from '../../support/temporal.js'
import { couldNotBeCut, wasCutInCell } from './fresh-histories.js'
import { brokenValues, containersLeft, filesLeft, judgeEffects, processesLeft } from './oracle.js'
import { inWords, type Plan } from './plan.js'
import { report } from './report.js'
import { approvalMs, effects, expectedResult, historyEvents, onceEffect, script, turns } from './scenario.js'
import { Workers } from './workers.js'

const config = fileURLToPath(new URL('../../fixtures/chaos.config.ts', import.meta.url))
const workflowBundle = { codePath: fileURLToPath(new URL('../../../dist/workflow-bundle.js', import.meta.url)) }

Runtime.install({ logger: new DefaultLogger('WARN') })

/** The scenario under a plan of faults: real server, containers and worker processes; a model that is scripted; a world that counts. */
class ChaosRun {
  readonly #plan: Plan
  readonly #taskQueue = uniqueName('chaos')
  readonly #workflowId = uniqueName('chaos-agent')
  readonly #hit: string[] = []
  readonly #deaths: number[] = []
  readonly #recoveries: number[] = []
  #ended = false

  constructor(plan: Plan) {
    this.#plan = plan
  }

  /** Runs it to its end, and holds it against what a run without faults gives. */
  async run(): Promise<void> {
    const begun = Date.now()
    const folder = await mkdtemp(join(tmpdir(), 'ptc-chaos-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }))
    const [store, temporary] = [join(folder, 'values'), join(folder, 'tmp')]
    await Promise.all([mkdir(store), mkdir(temporary)])
    const [ledger, api] = await Promise.all([this.#startLedger(), startScriptedMessagesApi({ script })])
    const client = await connectClient(await createDataConverter({ kind: 'local', directory: store }))
    const workers = await Workers.start({
      config,
      taskQueue: this.#taskQueue,
      folder,
      crashes: this.#plan.crashes,
      onDeath: () => void this.#measure(ledger, api),
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
      await workers.abandon()
      await Promise.all([ledger.close(), api.close(), client.connection.close()])
    })
    const options = { workflowId: this.#workflowId, taskQueue: this.#taskQueue, args: [{ question: 'go' }] }
    const handle = await client.workflow.start('agent', options)
    onTestFinished(() => removeContainersOf(this.#workflowId))
    const disturbed = this.#disturb(workers, ledger)
    const result = (await handle.result()) as AgentResult
    this.#ended = true
    const left = await containersLeft(this.#workflowId)
    await disturbed
    const { exit, log } = await workers.close()
    const passed = workers.passed
    this.#hit.push(...passed.filter(({ crashed }) => crashed).map(({ point, time }) => `${point}#${time}`))

    // The world's view first: it is what counts.
    const mail = result.answer.includes('outcome_unknown') ? 'outcome_unknown' : 'mail'
    const mailHappened = ledger.applied.some(({ name }) => name === onceEffect)
    const wanted = [...effects, ...(mail === 'mail' || mailHappened ? [onceEffect] : [])]
    const verdict = {
      ...judgeEffects(ledger.applied, wanted),
      leaks: [
        ...left,
        ...processesLeft(this.#taskQueue),
        ...filesLeft(temporary),
        ...brokenValues(store, this.#deaths.length),
      ],
    }
    const { loadedDataConverter: dataConverter } = client.options
    const chain = await chainOf(client, handle)
    report({
      faults: this.#hit,
      ...(this.#plan.seed === undefined ? {} : { seed: this.#plan.seed }),
      effects: verdict.effects,
      duplicates: verdict.duplicates.length,
      lost: verdict.lost.length,
      leaks: verdict.leaks.length,
      recoveriesMs: this.#recoveries,
      seconds: (Date.now() - begun) / 1_000,
    })
    const context = `${inWords(this.#plan)}\n${log.slice(-2_000)}`
    expect(verdict, context).toMatchObject({ duplicates: [], lost: [], leaks: [] })
    expect(result, context).toMatchObject(expectedResult(mail))
    if (this.#hit.length === 0) expect(mail).toBe('mail')
    expect(exit, context).toBe(0)
    // What was planned has struck, or the run proves nothing. Of what was left to chance, some may have come too late.
    const planned = this.#plan.crashes.length + this.#plan.disturbances.length
    if (this.#plan.seed === undefined) expect(this.#hit, context).toHaveLength(planned)
    else expect(this.#hit.length, context).toBeGreaterThan(0)
    // Bought once a recorded turn; a reply that died with its worker before it was recorded is asked for again.
    const bought = answeredTurns(api)
    expect(completedCount(chain, 'model.turn')).toBe(turns)
    expect(bought).toBeGreaterThanOrEqual(turns)
    expect(bought).toBeLessThanOrEqual(turns + this.#hit.filter((hit) => !/^(tool|advance|step)/.test(hit)).length)
    const cut = this.#plan.seed === undefined ? wasCutInCell(chain) : chain.length > 1
    expect(cut || couldNotBeCut(chain), 'the history was to end in the middle of a cell').toBe(true)
    for (const history of chain) await replay({ workflowBundle, dataConverter }, history, this.#workflowId)
  }

  async #startLedger(): Promise<Ledger> {
    const ledger = await Ledger.start()
    ledger.answerAfter('d', approvalMs)
    for (const { name, count } of this.#plan.droppedReplies) ledger.dropReplies(name, count)
    return ledger
  }

  /** From the death of a worker to the next thing that the world is asked. */
  async #measure(ledger: Ledger, api: ScriptedMessagesApi): Promise<void> {
    const died = Date.now()
    this.#deaths.push(died)
    const requests = api.requests.length
    await Promise.race([ledger.nextAsk(), api.waitForRequest(({ number }) => number > requests)]).catch(() => undefined)
    if (!this.#ended) this.#recoveries.push(Date.now() - died)
  }

  async #disturb(workers: Workers, ledger: Ledger): Promise<void> {
    await Promise.all(this.#plan.disturbances.map((disturbance) => this.#strike(disturbance, workers, ledger)))
  }

  async #strike(
    { what, afterAsks, delayMs, forMs }: Plan['disturbances'][number],
    workers: Workers,
    ledger: Ledger,
  ): Promise<void> {
    while (ledger.asked.length < afterAsks) await ledger.nextAsk()
    await new Promise((resolve) => setTimeout(resolve, delayMs))
    const strike = {
      'kill-worker': () => workers.kill(),
      'freeze-worker': () => workers.freeze(forMs),
      'kill-container': async () => (await killContainersOf(this.#workflowId)) > 0,
    }[what]
    // A worker that is yet to come, a sandbox that is parked: it is waited for.
    let hasStruck = false
    while (!hasStruck && !this.#ended) {
      hasStruck = await strike()
      if (!hasStruck) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    if (hasStruck) this.#hit.push(what)
  }
}

/** The scenario under these faults: same answer, each effect once, nothing left, and every fault has struck. */
export function survives(plan: Plan): Promise<void> {
  return new ChaosRun(plan).run()
}
