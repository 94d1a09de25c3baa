import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { z } from 'zod'

const executionSchema = z.object({ workflowId: z.string(), runId: z.string() })

/** One execution of a workflow. */
export type Execution = Readonly<z.infer<typeof executionSchema>>

const attemptSchema = executionSchema.extend({
  activityId: z.string(),
  /** From 1. */
  attempt: z.int(),
  /** How many attempts before, in a row, have lost their workers, as far as this host knows. Default 0. */
  lost: z.int().optional(),
})

/** One attempt of an activity. */
export type Attempt = Readonly<z.infer<typeof attemptSchema>>

const lineSchema = z.union([attemptSchema.extend({ begin: z.int() }), z.object({ end: z.int() })])

/** What the record of a dead process says. */
export interface Records {
  /** In progress when the process ended, in the order of their begins. */
  readonly attempts: readonly Attempt[]
  /** Executions whose activities the process has run lately, or was running: it may have had other tasks of them. */
  readonly executions: readonly Execution[]
}

/** Executions whose last event is looked at. */
const maxExecutions = 500

/** The file is written anew when it has this many lines. */
const maxLines = 10_000

/**
 * The attempts that this process has in progress, in a file that outlives it. A line for each begin and each end,
 * written without waiting for the disk: the operating system has them when the process is killed. What can't be written
 * costs time only, so problems are ignored.
 *
 * The SDK does not say which workflow tasks are in progress. A worker that runs activities of an execution often has
 * its workflow tasks, too.
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
      // The disk is full, for example.
    }
  }

  #rewrite(): void {
    const lines = [...this.#inProgress].map(([begin, attempt]) => `${JSON.stringify({ begin, ...attempt })}\n`)
    ftruncateSync(this.#descriptor)
    writeSync(this.#descriptor, lines.join(''))
    this.#lines = lines.length
  }
}

/** Reads the record of a process that has ended. A line that was cut off is ignored. */
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
