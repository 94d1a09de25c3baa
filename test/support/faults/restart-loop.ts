import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../random.js'

/** A part that can fail and come back without loss of data: a process, or a link. */
export interface Killable {
  kill(): Promise<void>
  startProcess(): Promise<void>
}

/** A fault of a schedule. */
export interface PlannedFault {
  readonly victim: string
  /** Milliseconds from the end of the fault before. */
  readonly afterMs: number
  readonly downMs: number
}

/** Milliseconds between two kills, and of downtime. */
export interface FaultTimes {
  readonly interval: { readonly least: number; readonly most: number }
  readonly downtime: { readonly least: number; readonly most: number }
}

/** Those of the chaos tests of DBOS. */
const usualTimes: FaultTimes = { interval: { least: 5_000, most: 10_000 }, downtime: { least: 0, most: 2_000 } }

/** Endless faults in rounds, in each of which each victim has one. The same seed gives the same faults. */
export function* faultSchedule(
  victims: readonly string[],
  seed: number,
  times: FaultTimes = usualTimes,
): Generator<PlannedFault, never, undefined> {
  const random = new Random(seed)
  const within = ({ least, most }: FaultTimes['interval']): number => least + random.below(most - least)
  for (;;) {
    const waiting = [...victims]
    while (waiting.length > 0) {
      const [victim = ''] = waiting.splice(random.below(waiting.length), 1)
      yield { victim, afterMs: within(times.interval), downMs: within(times.downtime) }
    }
  }
}

export interface RestartLoopOptions {
  readonly victims: Readonly<Record<string, Killable>>
  readonly schedule: Iterable<PlannedFault>
  /** Ends the loop, which then still waits until each victim was killed often enough. */
  readonly signal: AbortSignal
  /** Minimum number of kills of each victim. Default 0. */
  readonly kills?: number
  readonly beforeKill?: (victim: string) => Promise<void>
  readonly afterRestart?: (victim: string) => void
}

/**
 * Kills and restarts victims, one after the other; at the end all of them run.
 *
 * @returns the number of kills of each victim
 */
export async function restartLoop(options: RestartLoopOptions): Promise<Readonly<Record<string, number>>> {
  const { victims, schedule, signal, kills: minimumKills = 0, beforeKill, afterRestart } = options
  const kills = new Map(Object.keys(victims).map((name) => [name, 0]))
  for (const { victim: name, afterMs, downMs } of schedule) {
    const victim = victims[name]
    if (victim === undefined) throw new Error(`there is no ${name} to kill`)
    const mayEnd = [...kills.values()].every((count) => count >= minimumKills)
    await (mayEnd ? delay(afterMs, undefined, { signal }).catch(() => undefined) : delay(afterMs))
    if (mayEnd && signal.aborted) break
    await beforeKill?.(name)
    await victim.kill()
    kills.set(name, (kills.get(name) ?? 0) + 1)
    await delay(downMs)
    await victim.startProcess()
    afterRestart?.(name)
  }
  return Object.fromEntries(kills)
}
