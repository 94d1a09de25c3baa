import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowIdConflictPolicy } from '@temporalio/common'
import { messageOf, PtcError } from '../../../../src/common/errors.js'
import type { AgentResult, ProgramResult } from '../../../../src/common/run/runs.js'
import type { RunHandle } from '../../../../src/client/index.js'
import { readEvents } from '../../../support/stream/shown-text.js'
import type { Fleet } from './fleet.js'
import type { SoakOptions } from './options.js'
import type { FollowedRun } from './stream-check.js'
import { checkResult, type SoakRun, soakRun } from './workload.js'

const retryMs = 500

export interface FinishedRun {
  readonly run: SoakRun
  readonly problems: readonly string[]
  readonly unknown: readonly string[]
  /** What a reader got while the run was in progress; undefined for a run that was not followed. */
  readonly followed: FollowedRun | undefined
}

/** More than `options.runs`: runs are started until each kind of fault has touched one. */
export function scriptedRuns({ runs }: SoakOptions): number {
  return 2 * runs + 300
}

/** Starts runs, so many at a time, follows the live streams of agents, and checks the results. */
export class Workload {
  readonly #fleet: Fleet
  readonly #options: SoakOptions
  readonly #inProgress = new Set<string>()

  constructor(fleet: Fleet, options: SoakOptions) {
    this.#fleet = fleet
    this.#options = options
  }

  get inProgress(): readonly string[] {
    return [...this.#inProgress]
  }

  /** @param needsMore whether to go on when enough runs were started */
  async runAll(needsMore: () => boolean): Promise<readonly FinishedRun[]> {
    const { runs, atOnce, minutes } = this.#options
    const deadline = performance.now() + minutes * 60_000
    const finished: FinishedRun[] = []
    let next = 0
    const lane = async (): Promise<void> => {
      while (performance.now() < deadline && (next < runs || (needsMore() && next < scriptedRuns(this.#options)))) {
        const run = soakRun(next)
        next += 1
        finished.push(await this.#runOne(run))
      }
    }
    await Promise.all(Array.from({ length: atOnce }, lane))
    return finished
  }

  async #runOne(run: SoakRun): Promise<FinishedRun> {
    const { workflowId } = run
    const handle = await this.#start(run)
    this.#inProgress.add(workflowId)
    const reading = run.work.kind === 'agent' ? readEvents(handle.stream()) : undefined
    reading?.catch(() => undefined) // reported when the run has ended
    try {
      const result = await handle.result()
      const { problems, unknown } = checkResult(run, result)
      const events = await reading
      const answer = 'answer' in result ? result.answer : ''
      return { run, problems, unknown, followed: events && { handle, answer, events } }
    } catch (thrown) {
      const problems = [`${workflowId} failed: ${messageOf(thrown)}`]
      return { run, problems, unknown: [], followed: undefined }
    } finally {
      this.#inProgress.delete(workflowId)
    }
  }

  /** A request whose answer is lost is sent again, with the same id. */
  async #start({ workflowId, work }: SoakRun): Promise<RunHandle<AgentResult | ProgramResult>> {
    const { ptc } = this.#fleet.env
    const options = { workflowId, workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING }
    for (;;) {
      try {
        return await (work.kind === 'agent'
          ? ptc.startAgent({ question: work.question }, options)
          : ptc.startProgram({ source: work.source }, options))
      } catch (thrown) {
        if (!PtcError.isInstance(thrown)) throw thrown
        if (thrown.code === 'RUN_EXISTS') return ptc.handle(workflowId)
        if (thrown.code !== 'TEMPORAL_UNREACHABLE') throw thrown
        await delay(retryMs)
      }
    }
  }
}
