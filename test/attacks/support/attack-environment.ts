import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import type { Limits } from '../../../src/common/limits.js'
import type { CellOutcome } from '../../../src/common/outcomes.js'
import type { ProgramResult } from '../../../src/common/runs.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../support/environment/test-environment.js'
import { readableText } from './readable-text.js'

/** Memory of the worker process that an attack may use for a moment, in bytes. */
export const maxMemoryGrowthBytes = 150 * 1024 * 1024

/** What every attack looks for; it can be known by its first part. */
export const canaryPrefix = 'ptc-canary-'

/** What an attack came to. */
export interface AttackResult {
  readonly outcome: CellOutcome
  /** Everything the history holds, as text. */
  readonly history: string
  readonly events: number
  /** Bytes this process, which is the worker, grew by at most while the attack ran. */
  readonly memoryGrowthBytes: number
  readonly milliseconds: number
}

/**
 * A whole env, with a secret in the environment of its worker and a file of its host, for hostile programs to run on. Each
 * attack ends with what must be true after any: the worker lives, the next session is clean, nothing is left, and the
 * secret is nowhere.
 */
export class AttackEnvironment {
  readonly env: TestEnvironment
  readonly canary = `${canaryPrefix}${randomUUID()}`
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'ptc-attackEnv-'))
  readonly #cleanup: () => Promise<void>

  private constructor(env: TestEnvironment, end: () => Promise<void>) {
    this.env = env
    this.#cleanup = end
    process.env['PTC_ATTACK_CANARY'] = this.canary
    writeFileSync(this.flagFile, this.canary)
  }

  static async start(options: TestEnvironmentOptions = {}): Promise<AttackEnvironment> {
    let end = (): Promise<void> => Promise.resolve()
    const env = await TestEnvironment.start({ ...options, onCleanup: (given) => (end = given) })
    return new AttackEnvironment(env, end)
  }

  /** On the host, with the secret in it. */
  get flagFile(): string {
    return path.join(this.#folder, 'flag.txt')
  }

  /** Runs a hostile program to its end, and looks at what is left of the world. */
  async attack(source: string, limits: Partial<Limits> = {}): Promise<AttackResult> {
    const memory = monitorMemory()
    const begun = performance.now()
    const { outcome } = await this.env.runProgram(source, { limits })
    const milliseconds = performance.now() - begun
    const memoryGrowthBytes = memory.stop()
    const attacked = this.env.lastRun
    await this.expectNextSessionClean()
    return { outcome, memoryGrowthBytes, milliseconds, ...(await this.expectNoLeak(attacked, outcome)) }
  }

  /** An attack whose program is to end by itself: what it printed, line by line. */
  async probe(source: string, limits: Partial<Limits> = {}): Promise<readonly string[]> {
    const { outcome } = await this.attack(source, { ...probeLimits, ...limits })
    expect(outcome).toMatchObject({ status: 'ok' })
    return outcome.output.trimEnd().split('\n')
  }

  /** The worker takes the next run, whose sandbox has no file and no process but its own. */
  async expectNextSessionClean(): Promise<void> {
    const { outcome } = await this.env.runProgram(inspectSandbox, { limits: probeLimits })
    expect(outcome).toEqual({ status: 'ok', output: '[] True\n' })
  }

  /** Neither what was printed nor anything in the history has the secret. */
  async expectNoLeak(
    run: WorkflowHandle,
    result: CellOutcome | ProgramResult | object,
  ): Promise<Pick<AttackResult, 'history' | 'events'>> {
    const { events } = await this.env.history(run)
    const history = readableText(events)
    expect(history.length).toBeGreaterThan(0)
    expect(history.includes(this.canary), 'the secret is in the history').toBe(false)
    expect(JSON.stringify(result).includes(this.canary), 'the secret was printed').toBe(false)
    return { history, events: events.length }
  }

  async close(): Promise<void> {
    delete process.env['PTC_ATTACK_CANARY']
    rmSync(this.#folder, { recursive: true, force: true })
    await this.#cleanup()
  }
}

/** For programs that are not stopped: the limit under which an attack runs may be a second. */
const probeLimits = { cellSeconds: 60 }

const inspectSandbox = `
import os
processes = [each for each in os.listdir("/proc") if each.isdigit()]
print(os.listdir("/tmp"), len(processes) <= 2)
`

/** Follows the memory of this process until stopped; gives the growth at its highest. */
function monitorMemory(): { stop: () => number } {
  const before = process.memoryUsage.rss()
  let highest = before
  const look = (): void => {
    highest = Math.max(highest, process.memoryUsage.rss())
  }
  const timer = setInterval(look, 20)
  return {
    stop: () => {
      clearInterval(timer)
      look()
      return highest - before
    },
  }
}
