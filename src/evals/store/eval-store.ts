import { randomBytes, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { hasErrorCode } from '../../common/system-error.js'
import type { EvalArm, SampleEnd } from '../samples/sample.js'
import { type Database, openDatabase } from './open-database.js'
import { type ArmRecord, armRecord, type EvalRecord, evalRecord, type SampleRecord, sampleRecord } from './records.js'

/** A sample of an eval that begins. */
export interface PlannedSample {
  readonly key: string
  readonly task: string
  readonly taskDigest: string
  readonly arm: number
  readonly repeat: number
}

export interface PlannedEval {
  /** Digest of all that decides on the results: tasks, arms, repeats and version. */
  readonly key: string
  readonly label: string
  readonly version: string
  readonly repeats: number
  readonly maxCostUsd: number | undefined
  readonly arms: readonly EvalArm[]
  /** In the order in which they run. */
  readonly samples: readonly PlannedSample[]
}

/** Milliseconds without a sign of life after which another machine may take over an eval. */
export const leaseMs = 60_000

/** The results of evals in a database of SQLite. Each method is one transaction. */
export class EvalStore implements Disposable {
  readonly #database: Database
  /** Identity of this process in the lease of an eval. */
  readonly #owner = randomUUID()

  constructor(database: Database) {
    this.#database = database
  }

  /** @throws PtcError EVAL_STORE_UNAVAILABLE */
  static async open(path: string): Promise<EvalStore> {
    return new EvalStore(await openDatabase(path))
  }

  /**
   * Takes over the latest eval with the key that is not finished, or begins a new one. Samples that ran are then in
   * state `running`, for this process to attach to them.
   *
   * @param isNew begins a new eval in any case
   * @throws PtcError EVAL_BUSY when another process works on the eval
   */
  begin(planned: PlannedEval, isNew: boolean): { readonly id: string; readonly isResumed: boolean } {
    return this.#transaction(() => {
      const latest = this.#get(
        evalRecord,
        'SELECT * FROM evals WHERE key = ? ORDER BY number DESC LIMIT 1',
        planned.key,
      )
      if (latest !== undefined && latest.finished_at === null && !isNew) {
        this.#claim(latest)
        const interrupted = `UPDATE samples SET interrupted = 1 WHERE eval = ? AND state = 'running'`
        this.#database.prepare(interrupted).run(latest.id)
        // A resumed eval may have another bound: a person gives more money, and the rest runs.
        this.#database
          .prepare('UPDATE evals SET max_cost_usd = ? WHERE id = ?')
          .run(planned.maxCostUsd ?? null, latest.id)
        this.#database
          .prepare(`UPDATE samples SET state = 'pending' WHERE eval = ? AND state = 'not_run'`)
          .run(latest.id)
        return { id: latest.id, isResumed: true }
      }
      const number = (latest?.number ?? 0) + 1
      // Random: another database of the same server may have an eval with the same key.
      const id = randomBytes(5).toString('hex')
      this.#insert(planned, id, number)
      return { id, isResumed: false }
    })
  }

  /** Tells other processes that this one still works on the eval. @throws PtcError EVAL_BUSY after a takeover */
  keepAlive(id: string): void {
    const { changes } = this.#database
      .prepare('UPDATE evals SET alive_at = ? WHERE id = ? AND owner = ?')
      .run(Date.now(), id, this.#owner)
    if (changes === 0) throw new PtcError('EVAL_BUSY', `another process has taken over eval ${id}`)
  }

  /**
   * Marks a sample as running, and reserves its cost.
   *
   * @returns false when the eval may not spend so much more: the sample did not start
   */
  start(
    id: string,
    key: string,
    run: { readonly attempt: number; readonly workflowId: string; readonly reservedUsd: number },
  ): boolean {
    return this.#transaction(() => {
      const { max_cost_usd: max } = this.requireEval(id)
      const { total } = this.#database
        .prepare('SELECT COALESCE(SUM(spent_usd + reserved_usd), 0) AS total FROM samples WHERE eval = ?')
        .get(id) as { total: number }
      // Sums of doubles differ in their last digits.
      if (max !== null && total + run.reservedUsd > max + 1e-9) return false
      this.#database
        .prepare(
          `UPDATE samples SET state = 'running', attempt = ?, workflow_id = ?, reserved_usd = ?, started_at = ?,
           timed_out_at = NULL, interrupted = 0, kind = NULL, reason = NULL WHERE eval = ? AND key = ?`,
        )
        .run(run.attempt, run.workflowId, run.reservedUsd, Date.now(), id, key)
      return true
    })
  }

  /** Marks a sample as not run for the maximum cost. A sample that ended with an error before keeps its error. */
  refuse(id: string, key: string): void {
    this.#database
      .prepare(`UPDATE samples SET state = 'not_run', kind = 'budget' WHERE eval = ? AND key = ? AND state = 'pending'`)
      .run(id, key)
  }

  /** Records that the run of a sample is about to be cancelled at its time limit. */
  timeOut(id: string, key: string): void {
    this.#database.prepare('UPDATE samples SET timed_out_at = ? WHERE eval = ? AND key = ?').run(Date.now(), id, key)
  }

  /** Records the end of an attempt, and replaces its reservation by what it spent. */
  finish(id: string, key: string, end: SampleEnd): void {
    const { state, kind, reason, used, judgeCostUsd, milliseconds, verified, hasUnknownCost } = end
    const { turns, cells, toolCalls, usage, costUsd } = used ?? {}
    this.#transaction(() => {
      const { reserved_usd: reserved, interrupted } = this.#requireSample(id, key)
      const known = (costUsd ?? 0) + (judgeCostUsd ?? 0)
      // An unknown cost is never zero: the whole reservation counts as spent.
      const spent = hasUnknownCost || judgeCostUsd === null ? Math.max(known, reserved) : known
      this.#database
        .prepare(
          `UPDATE samples SET state = ?, kind = ?, reason = ?, turns = ?, cells = ?, tool_calls = ?, input_tokens = ?,
           output_tokens = ?, cache_read_tokens = ?, cache_write_tokens = ?, cost_usd = ?, judge_cost_usd = ?,
           spent_usd = spent_usd + ?, reserved_usd = 0, milliseconds = ?, verified = ?, ended_at = ?
           WHERE eval = ? AND key = ?`,
        )
        .run(
          state,
          kind ?? null,
          reason ?? null,
          turns ?? null,
          cells ?? null,
          toolCalls ?? null,
          usage?.inputTokens ?? null,
          usage?.outputTokens ?? null,
          usage?.cacheReadTokens ?? null,
          usage?.cacheWriteTokens ?? null,
          costUsd ?? null,
          judgeCostUsd,
          spent,
          interrupted === 1 ? null : (milliseconds ?? null),
          verified === undefined ? null : Number(verified),
          Date.now(),
          id,
          key,
        )
    })
  }

  /** Marks the eval as finished unless samples did not run. Gives up the lease. */
  end(id: string): void {
    this.#transaction(() => {
      const { open } = this.#database
        .prepare(`SELECT COUNT(*) AS open FROM samples WHERE eval = ? AND state IN ('pending', 'running', 'not_run')`)
        .get(id) as { open: number }
      this.#database
        .prepare('UPDATE evals SET owner = NULL, owner_pid = NULL, finished_at = ? WHERE id = ? AND owner = ?')
        .run(open === 0 ? Date.now() : null, id, this.#owner)
    })
  }

  /** The latest evals, the newest first. */
  evals(limit: number): readonly EvalRecord[] {
    return this.#all(evalRecord, 'SELECT * FROM evals ORDER BY created_at DESC, number DESC LIMIT ?', limit)
  }

  /** @param id may be the beginning of an id. @throws PtcError EVAL_NOT_FOUND */
  requireEval(id: string): EvalRecord {
    const exact = this.#get(evalRecord, 'SELECT * FROM evals WHERE id = ?', id)
    if (exact !== undefined) return exact
    const begin = id.replaceAll(/[\\%_]/g, String.raw`\$&`)
    const found = this.#all(evalRecord, String.raw`SELECT * FROM evals WHERE id LIKE ? ESCAPE '\' LIMIT 2`, `${begin}%`)
    if (found.length === 1 && found[0] !== undefined) return found[0]
    throw new PtcError('EVAL_NOT_FOUND', `there is ${found.length === 0 ? 'no' : 'more than one'} eval ${id}`, {
      hint: '`ptc eval list` shows the evals.',
    })
  }

  arms(id: string): readonly ArmRecord[] {
    return this.#all(armRecord, 'SELECT * FROM arms WHERE eval = ? ORDER BY number', id)
  }

  samples(id: string): readonly SampleRecord[] {
    return this.#all(sampleRecord, 'SELECT * FROM samples WHERE eval = ? ORDER BY position', id)
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }

  #requireSample(id: string, key: string): SampleRecord {
    const found = this.#get(sampleRecord, 'SELECT * FROM samples WHERE eval = ? AND key = ?', id, key)
    if (found === undefined) throw new PtcError('INTERNAL', `eval ${id} has no sample ${key}`)
    return found
  }

  #claim(record: EvalRecord): void {
    if (isOwned(record)) {
      throw new PtcError('EVAL_BUSY', `another process works on eval ${record.id}`, {
        hint: `Wait for process ${record.owner_pid} on ${record.owner_host}, or start another eval with --new.`,
      })
    }
    this.#database
      .prepare('UPDATE evals SET owner = ?, owner_pid = ?, owner_host = ?, alive_at = ? WHERE id = ?')
      .run(this.#owner, process.pid, hostname(), Date.now(), record.id)
  }

  #insert(planned: PlannedEval, id: string, number: number): void {
    const { key, label, version, repeats, maxCostUsd, arms, samples } = planned
    const now = Date.now()
    this.#database
      .prepare(
        `INSERT INTO evals (id, key, number, label, version, repeats, max_cost_usd, created_at, owner, owner_pid,
         owner_host, alive_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(id, key, number, label, version, repeats, maxCostUsd ?? null, now, this.#owner, process.pid, hostname(), now)
    const arm = this.#database.prepare('INSERT INTO arms VALUES (?, ?, ?, ?, ?, ?)')
    for (const [index, { name, model, system, digest }] of arms.entries())
      arm.run(id, index, name, model, system?.file ?? null, digest)
    const sample = this.#database.prepare(
      `INSERT INTO samples (eval, key, position, task, task_digest, arm, repeat, state, attempt)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0)`,
    )
    for (const [position, each] of samples.entries())
      sample.run(id, each.key, position, each.task, each.taskDigest, each.arm, each.repeat)
  }

  #transaction<Result>(work: () => Result): Result {
    return this.#database.transaction(work).immediate()
  }

  #get<Record>(schema: z.ZodType<Record>, sql: string, ...values: readonly unknown[]): Record | undefined {
    return this.#all(schema, sql, ...values)[0]
  }

  #all<Record>(schema: z.ZodType<Record>, sql: string, ...values: readonly unknown[]): readonly Record[] {
    return this.#database
      .prepare(sql)
      .all(...values)
      .map((row) => {
        const parsed = schema.safeParse(row)
        if (parsed.success) return parsed.data
        throw new PtcError('EVAL_STORE_UNAVAILABLE', `the results have a row of another form: ${parsed.error.message}`)
      })
  }
}

/** Whether a process that lives works on the eval. On this machine, a killed process is known at once. */
function isOwned({ owner, owner_pid: pid, owner_host: host, alive_at: aliveAt }: EvalRecord): boolean {
  if (owner === null || aliveAt === null) return false
  if (host !== hostname() || pid === null) return Date.now() - aliveAt < leaseMs
  return isAlive(pid) && Date.now() - aliveAt < leaseMs
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    return hasErrorCode(thrown, 'EPERM')
  }
}
