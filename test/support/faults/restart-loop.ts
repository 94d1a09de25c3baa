import { setTimeout as delay } from 'node:timers/promises'
import { Random } from '../random.js'

/** What can be killed and comes back as it was. */
export interface Killable {
  kill(): Promise<void>
  startProcess(): Promise<void>
}

export interface RestartLoopOptions {
  readonly victims: Readonly<Record<string, Killable>>
  readonly milliseconds: number
  /** Of each, at least: where they take long to come back, it lasts for longer. */
  readonly kills: number
  readonly seed: number
}

/** Milliseconds between two kills, and those a victim stays dead. As in the chaos tests of DBOS. */
const killInterval = { least: 5_000, most: 10_000 }
const downtime = { least: 0, most: 2_000 }

/**
 * Kills the victims, in turn, again and again for a while; at the end all are up.
 *
 * @returns how often each was killed
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
