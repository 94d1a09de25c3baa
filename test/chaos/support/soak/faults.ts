import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'
import {
  faultSchedule,
  type FaultTimes,
  type Killable,
  type PlannedFault,
  restartLoop,
} from '../../../support/faults/restart-loop.js'
import type { Fleet, HostOfFleet } from './fleet.js'
import type { SoakOptions } from './options.js'
import type { SupervisedWorker } from './supervised-worker.js'

/**
 * What fails. `host`: a whole machine with its sandboxes. `sandbox-worker`: only the worker on it. `link`: only its
 * network.
 */
export const faultKinds = ['host', 'sandbox-worker', 'link', 'worker', 'temporal', 'postgres', 'redis'] as const

export type FaultKind = (typeof faultKinds)[number]

/** A fault that has happened. Times are milliseconds since 1970. */
export interface Fault {
  readonly kind: FaultKind
  readonly victim: string
  readonly at: number
  /** When the victim was ready again. */
  readonly until: number
  /** Ids of the runs that it touched. */
  readonly touched: readonly string[]
}

interface Victim extends Killable {
  readonly kind: FaultKind
  /** The runs that need it at this moment. Undefined: all in progress. */
  touched(inProgress: readonly string[]): Promise<readonly string[] | undefined>
}

type Victims = Readonly<Record<string, Victim>>

/** Victims of which one at a time has a fault. */
interface VictimGroup {
  readonly victims: Victims
  readonly times: FaultTimes
}

/** Milliseconds in which a server must tell which runs a fault would touch. */
const lookupMs = 2_000

const { PENDING_ACTIVITY_STATE_STARTED: started } = proto.temporal.api.enums.v1.PendingActivityState

/** Injects the faults of a seed into a fleet: those of servers and those of its other parts at the same time. */
export class FaultInjector {
  readonly #groups: readonly VictimGroup[]
  readonly #seed: number
  readonly #goOn: boolean
  readonly #inProgress: () => readonly string[]
  readonly #faults: Fault[] = []

  /** @param inProgress ids of the runs in progress */
  constructor(fleet: Fleet, { seed, faultSeconds, faultsGoOn }: SoakOptions, inProgress: () => readonly string[]) {
    const mean = faultSeconds * 1_000
    const downtime = { least: 0, most: 2 * mean }
    this.#groups = [
      { victims: machinesOf(fleet), times: { interval: { least: mean / 2, most: 1.5 * mean }, downtime } },
      { victims: serversOf(fleet), times: { interval: { least: 2 * mean, most: 4 * mean }, downtime } },
    ]
    this.#seed = seed
    this.#goOn = faultsGoOn
    this.#inProgress = inProgress
  }

  get faults(): readonly Fault[] {
    return this.#faults
  }

  /** Kinds of faults that have touched no run yet. */
  get missing(): readonly FaultKind[] {
    return faultKinds.filter((kind) => !this.#faults.some((fault) => fault.kind === kind && fault.touched.length > 0))
  }

  /** The first faults of the schedules, as text. */
  describeSchedules(): string {
    const text = ({ victim, afterMs, downMs }: PlannedFault): string => `+${afterMs} ms ${victim} for ${downMs} ms`
    return this.#groups
      .map(({ victims }, index) => {
        const schedule = this.#schedule(index)
        return Object.keys(victims)
          .map(() => text(schedule.next().value))
          .join(', ')
      })
      .join('\n')
  }

  /** Injects faults until the signal is aborted, or there are enough; then everything runs again. */
  async inject(signal: AbortSignal): Promise<void> {
    await Promise.all(
      this.#groups.map(({ victims }, index) =>
        this.#injectInto(victims, this.#goOn ? this.#schedule(index) : this.#missingOf(index), signal),
      ),
    )
  }

  #schedule(index: number): Generator<PlannedFault, never, undefined> {
    const { victims = {}, times } = this.#groups[index] ?? {}
    return faultSchedule(Object.keys(victims), this.#seed + index, times)
  }

  /** The faults of the schedule whose kind has touched no run yet. */
  *#missingOf(index: number): Generator<PlannedFault, void, undefined> {
    const { victims = {} } = this.#groups[index] ?? {}
    const isMissing = (name: string): boolean => this.missing.some((kind) => kind === victims[name]?.kind)
    for (const fault of this.#schedule(index)) {
      if (!Object.keys(victims).some(isMissing)) return
      if (isMissing(fault.victim)) yield fault
    }
  }

  async #injectInto(victims: Victims, schedule: Iterable<PlannedFault>, signal: AbortSignal): Promise<void> {
    let fault: Omit<Fault, 'until'> | undefined
    await restartLoop({
      victims,
      schedule,
      signal,
      beforeKill: async (name) => {
        const victim = victims[name]
        if (victim === undefined) return
        const touched = await victim.touched(this.#inProgress())
        fault = { kind: victim.kind, victim: name, at: Date.now(), touched: touched ?? this.#inProgress() }
      },
      afterRestart: () => {
        if (fault) this.#faults.push({ ...fault, until: Date.now() })
      },
    })
  }
}

function serversOf({ server, redis }: Fleet): Victims {
  const touchesAll = { touched: () => Promise.resolve(undefined) }
  return {
    temporal: { kind: 'temporal', kill: () => server.kill(), startProcess: () => server.startProcess(), ...touchesAll },
    postgres: {
      kind: 'postgres',
      kill: () => server.database.kill(),
      startProcess: () => server.database.startProcess(),
      ...touchesAll,
    },
    redis: { kind: 'redis', kill: () => redis.kill(), startProcess: () => redis.startProcess(), ...touchesAll },
  }
}

function machinesOf({ env: { client }, hosts, workers }: Fleet): Victims {
  const ofHosts = hosts.flatMap((host) => victimsOfHost(host).map((victim) => [`${victim.kind} ${host.id}`, victim]))
  const ofWorkers = workers.map((worker, index) => [`worker ${index + 1}`, workerVictim(worker, client)])
  return Object.fromEntries([...ofHosts, ...ofWorkers]) as Victims
}

function victimsOfHost({ machine, worker }: HostOfFleet): readonly Victim[] {
  const touched = async (): Promise<readonly string[]> => {
    const running = (await machine.daemon.containers()).filter(({ State }) => State === 'running')
    return [...new Set(running.flatMap(({ Labels }) => Labels['ptc.workflow'] ?? []))]
  }
  return [
    {
      kind: 'host',
      async kill() {
        machine.network.cut() // a machine that loses power says nothing to its peers
        await Promise.all([worker.kill(), machine.kill()])
      },
      async startProcess() {
        await machine.startProcess()
        await worker.startProcess()
      },
      touched,
    },
    { kind: 'sandbox-worker', kill: () => worker.kill(), startProcess: () => worker.startProcess(), touched },
    {
      kind: 'link',
      kill: () => Promise.resolve(machine.network.cut()),
      startProcess: () => Promise.resolve(machine.network.mend()),
      touched,
    },
  ]
}

/** A worker without sandboxes: it touches runs whose calls it executes, and those whose last workflow task it had. */
function workerVictim(worker: SupervisedWorker, client: Client): Victim {
  const isOf = (identity: string | null | undefined): boolean =>
    identity?.startsWith(`${worker.current?.pid ?? -1}@`) === true
  const isTouched = async (workflowId: string): Promise<boolean> => {
    const { raw } = await client.workflow.getHandle(workflowId).describe()
    const executes = (raw.pendingActivities ?? []).some(
      (each) => each.state === started && isOf(each.lastWorkerIdentity),
    )
    if (executes) return true
    const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
      namespace: client.options.namespace,
      execution: { workflowId },
      maximumPageSize: 20,
    })
    const task = history?.events?.find(({ workflowTaskStartedEventAttributes: event }) => event)
    return isOf(task?.workflowTaskStartedEventAttributes?.identity)
  }
  return {
    kind: 'worker',
    kill: () => worker.kill(),
    startProcess: () => worker.startProcess(),
    async touched(inProgress) {
      try {
        const found = await client.withDeadline(Date.now() + lookupMs, () =>
          Promise.all(inProgress.map(async (id) => ((await isTouched(id)) ? [id] : []))),
        )
        return found.flat()
      } catch {
        return undefined // the server is down, too
      }
    },
  }
}
