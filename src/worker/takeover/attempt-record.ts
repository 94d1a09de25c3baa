import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { z } from 'zod'

const executionSchema = z.object({ workflowId: z.string(), runId: z.string() })

/** One execution of a workflow. */
export type Execution = Readonly<z.infer<typeof executionSchema>>

const attemptSchema = executionSchema.extend({
  activityId: z.string(),
  /** Number from 1. */
  attempt: z.int(),
  /** Number of consecutive earlier attempts that lost their workers, as far as this host knows. Default 0. */
  lost: z.int().optional(),
})

/** One attempt of an activity. */
export type Attempt = Readonly<z.infer<typeof attemptSchema>>

const lineSchema = z.union([attemptSchema.extend({ begin: z.int() }), z.object({ end: z.int() })])

/** The content of the record of a dead process. */
export interface Records {
  /** Attempts that were in progress when the process ended, oldest first. */
  readonly attempts: readonly Attempt[]
  /**
   * Executions whose activities the process ran recently, or was running. The server may have given it further ones.
   */
  readonly executions: readonly Execution[]
}

/** Maximum number of executions whose last event is read. */
const maxExecutions = 500

/** The file is rewritten when it has this many lines. */
const maxLines = 10_000

/**
 * Keeps the attempts that this process has in progress in a file that outlives the process. Each begin and each end is
 * a line. Writing does not wait for the disk: the operating system has the lines when the process is killed. A line
 * that can't be written only costs time later, so problems are ignored.
 */
export class AttemptRecord {
  readonly #descriptor: number
  readonly #inProgress = new Map<number, Attempt>()
  #lastId = 0
  #lines = 0
  #isClosed = false

  constructor(path: string) {
    this.#descriptor = openSync(path, 'ax', 0o600)
  }

  /** @returns a function to call once when the attempt has ended */
  begin(attempt: Attempt): () => void {
    const id = ++this.#lastId
    this.#inProgress.set(id, attempt)
    this.#write({ begin: id, ...attempt })
    return () => {
      this.#inProgress.delete(id)
      this.#write({ end: id })
    }
  }

  /** Idempotent. */
  close(): void {
    if (!this.#isClosed) closeSync(this.#descriptor)
    this.#isClosed = true
  }

  #write(line: object): void {
    if (this.#isClosed) return
    try {
      if (++this.#lines > maxLines) this.#rewrite()
      else writeSync(this.#descriptor, `${JSON.stringify(line)}\n`)
    } catch {
      // For example, the disk is full.
    }
  }

  #rewrite(): void {
    const lines = [...this.#inProgress].map(([begin, attempt]) => `${JSON.stringify({ begin, ...attempt })}\n`)
    ftruncateSync(this.#descriptor)
    writeSync(this.#descriptor, lines.join(''))
    this.#lines = lines.length
  }
}

/** Reads the record of a process that has ended. Ignores an incomplete line. */
export function readRecords(path: string): Records {
  const inProgress = new Map<number, Attempt>()
  const executions = new Map<string, Execution>()
  for (const text of readFileSync(path, 'utf8').split('\n')) {
    const line = parseLine(text)
    if (line === undefined) continue
    if ('end' in line) {
      inProgress.delete(line.end)
      continue
    }
    const { workflowId, runId } = line
    inProgress.set(line.begin, line)
    executions.delete(runId)
    executions.set(runId, { workflowId, runId })
  }
  const attempts = [...inProgress.values()]
  const recent = new Map([...executions].slice(-maxExecutions))
  for (const { workflowId, runId } of attempts) recent.set(runId, { workflowId, runId })
  return { attempts, executions: [...recent.values()] }
}

function parseLine(text: string): z.infer<typeof lineSchema> | undefined {
  try {
    return lineSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
