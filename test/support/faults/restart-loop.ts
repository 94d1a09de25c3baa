import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../random.js'

/** A process that can be killed and restarted without loss of data. */
export interface Killable {
  kill(): Promise<void>
  startProcess(): Promise<void>
}

export interface RestartLoopOptions {
  readonly victims: Readonly<Record<string, Killable>>
  readonly milliseconds: number
  /** Minimum number of kills of each victim; the loop lasts longer where restarts are slow. */
  readonly kills: number
  readonly seed: number
}

/** Milliseconds between two kills, and of downtime, as in the chaos tests of DBOS. */
const killInterval = { least: 5_000, most: 10_000 }
const downtime = { least: 0, most: 2_000 }

/**
 * Repeatedly kills and restarts the victims in turn; at the end all of them run.
 *
 * @returns the number of kills of each victim
 */
export async function restartLoop(options: RestartLoopOptions): Promise<Readonly<Record<string, number>>> {
  const { victims, milliseconds, kills: minimumKills, seed } = options
  const random = new Random(seed)
  const within = ({ least, most }: typeof killInterval): number => least + random.below(most - least)
  const kills = Object.fromEntries(Object.keys(victims).map((name) => [name, 0]))
  const end = performance.now() + milliseconds
  const isOver = (): boolean => performance.now() > end && Object.values(kills).every((count) => count >= minimumKills)
  for (;;) {
    for (const [name, victim] of Object.entries(victims)) {
      await delay(within(killInterval))
      if (isOver()) return kills
      await victim.kill()
      kills[name] = (kills[name] ?? 0) + 1
      await delay(within(downtime))
      await victim.startProcess()
    }
  }
}
