import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import type { Limits } from '../../../src/common/run/limits.js'
import type { CellOutcome } from '../../../src/common/calls/outcomes.js'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../support/environment/test-environment.js'
import { readableText } from './readable-text.js'

/** Bytes of memory that an attack may temporarily use in the worker process. */
export const maxMemoryGrowthBytes = 150 * 1024 * 1024

/** The secret that every attack looks for. Its first part identifies it. */
export const canaryPrefix = 'ptc-canary-'

/** The result of an attack. */
export interface AttackResult {
  readonly outcome: CellOutcome
  /** All strings in the history. */
  readonly history: string
  readonly events: number
  /** Peak growth in bytes of this process, which is the worker, during the attack. */
  readonly memoryGrowthBytes: number
  readonly milliseconds: number
}

interface AttackEnvironmentOptions extends TestEnvironmentOptions {
  /** The language of the attacks. */
  readonly language?: string
}

/** Starts the environment of a set of rows, which several kinds of sandboxes have. */
export type StartAttacks = (options?: AttackEnvironmentOptions) => Promise<AttackEnvironment>

/** What a row may depend on: a container with the settings of durable-ptc, or a pod with those of its cluster. */
export type AttackedSandbox = 'container' | 'pod'

/**
 * A test environment for hostile programs, with a secret in the worker's environment and in a file of the host.
 * Invariants after each attack: (1) the worker works, (2) the next session is clean, (3) no container is left, (4) the
 * secret is in no output and no history.
 */
export class AttackEnvironment {
  readonly env: TestEnvironment
  readonly canary = `${canaryPrefix}${randomUUID()}`
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'ptc-attackEnv-'))
  readonly #language: string
  readonly #cleanup: () => Promise<void>

  private constructor(env: TestEnvironment, language: string, end: () => Promise<void>) {
    this.env = env
    this.#language = language
    this.#cleanup = end
    process.env['PTC_ATTACK_CANARY'] = this.canary
    writeFileSync(this.flagFile, this.canary)
  }

  static async start({ language = 'python', ...options }: AttackEnvironmentOptions = {}): Promise<AttackEnvironment> {
    let end = (): Promise<void> => Promise.resolve()
    const env = await TestEnvironment.start({ ...options, onCleanup: (given) => (end = given) })
    return new AttackEnvironment(env, language, end)
  }

  /** A file on the host that contains the secret. */
  get flagFile(): string {
    return path.join(this.#folder, 'flag.txt')
  }

  /** Runs a hostile program to completion, and checks the invariants. */
  async attack(source: string, limits: Partial<Limits> = {}): Promise<AttackResult> {
    const memory = monitorMemory()
    const begun = performance.now()
    const { outcome } = await this.env.runProgram(source, { limits, language: this.#language })
    const milliseconds = performance.now() - begun
    const memoryGrowthBytes = memory.stop()
    const attacked = this.env.lastRun
    await this.expectNextSessionClean()
    return { outcome, memoryGrowthBytes, milliseconds, ...(await this.expectNoLeak(attacked, outcome)) }
  }

  /** Runs an attack whose program must complete; returns the printed lines. */
  async probe(source: string, limits: Partial<Limits> = {}): Promise<readonly string[]> {
    const { outcome } = await this.attack(source, { ...probeLimits, ...limits })
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: 'ok' })
    return outcome.output.trimEnd().split('\n')
  }

  /** Expects that the worker executes a next run, whose sandbox has only its own files and processes. */
  async expectNextSessionClean(): Promise<void> {
    const { outcome } = await this.env.runProgram(inspectSandbox, { limits: probeLimits })
    expect(outcome).toMatchObject({ status: 'ok', output: '[] True\n' })
  }

  /** Expects the secret neither in the output nor in the history. */
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

/** Limits for programs that complete: the limit of an attack may be one second. */
const probeLimits = { cellSeconds: 60 }

/**
 * A starting worker of another test keeps all sandboxes alive with a short process of root. A sandbox with a network has
 * the dispatcher besides the runner.
 */
const inspectSandbox = `
import os, time
own = 3 if "http_proxy" in os.environ else 2
for _ in range(50):
    processes = [each for each in os.listdir("/proc") if each.isdigit()]
    if len(processes) <= own: break
    time.sleep(0.1)
# The embedded sandbox has an empty folder for artifacts.
left = [name for name in os.listdir("/tmp") if name != "out" or os.listdir("/tmp/out")]
print(left, len(processes) <= own)
`

/** Monitors the memory of this process until stopped; returns the peak growth. */
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
