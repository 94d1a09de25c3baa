import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Failpoint } from '../../../src/common/failpoint.js'

/** A module that workers load: kills them at a failpoint, and logs the failpoints that they hit. */
export const killAtFailpoint = fileURLToPath(new URL('kill-at-failpoint.mjs', import.meta.url))

/** Kills a worker at the n-th hit of a failpoint. */
export interface Crash {
  readonly point: Failpoint
  readonly hit: number
}

/** Records that a worker has passed a failpoint for the n-th time. */
export interface FailpointHit {
  readonly point: string
  readonly time: number
  readonly crashed: boolean
}

/** Crashes of the first worker, the second, and so on; the worker after them survives. */
export class FailpointCrashes {
  readonly #crashes: readonly Crash[]
  readonly #folder: string
  readonly #logs: string[] = []

  /** @param folder folder for the logs */
  constructor(crashes: readonly Crash[], folder: string) {
    this.#crashes = crashes
    this.#folder = folder
  }

  /** Environment variables of the n-th worker, counted from 0. */
  environment(index: number): NodeJS.ProcessEnv {
    const log = join(this.#folder, `passed-${index}`)
    this.#logs.push(log)
    const crash = this.#crashes[index]
    return { PTC_FAILPOINT_LOG: log, ...(crash && { PTC_FAILPOINT: `${crash.point}#${crash.hit}` }) }
  }

  /** Hits of failpoints by all workers, and those at which a worker was killed. */
  get hits(): readonly FailpointHit[] {
    const lines = this.#logs.filter((log) => existsSync(log)).flatMap((log) => readFileSync(log, 'utf8').split('\n'))
    return lines
      .filter((line) => line !== '')
      .map((line) => {
        const [point = '', time, crash] = line.split(/[# ]/)
        return { point, time: Number(time), crashed: crash === 'crash' }
      })
  }
}
