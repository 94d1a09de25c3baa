import { createHash, randomUUID } from 'node:crypto'
import { defaultLimits } from '../dist/common/run/limits.js'
import type { SessionRef } from '../dist/common/session/session.js'
import type { StepInput } from '../dist/common/session/steps.js'
import type { SessionHost } from '../dist/sandbox/session/session-host.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios, type ResultRow, timeMs } from './support/measure.js'
import { createDocker, createHost } from './support/sandboxes.js'

/** A cell of two steps: some work, some more state, and one call. */
const cellSource = (number: number): string => `
rows = globals().get("rows", []) + [{"n": ${number}, "text": "x" * 200}]
total = sum(n * n for n in range(20_000))
answer = await ping(value=${number})
`

const signal = AbortSignal.timeout(3_600_000)
const owner = { workflowId: 'bench-rebuild', runId: 'bench', limits: defaultLimits }

/** A session without Temporal, rebuilt in new sandboxes. */
class RebuiltSession {
  readonly #host: SessionHost
  readonly #inputs: StepInput[] = []
  #ref: SessionRef = { id: randomUUID(), epoch: 1, backend: 'docker', startedAt: Date.now() }
  #text = ''

  private constructor(host: SessionHost) {
    this.#host = host
  }

  static async create(host: SessionHost, cells: number): Promise<RebuiltSession> {
    const session = new RebuiltSession(host)
    await host.open(session.#ref, owner, signal)
    for (let number = 1; number <= cells; number += 1) {
      session.#inputs.push({ type: 'cell', cell: number, source: cellSource(number) })
      session.#inputs.push({ type: 'results', results: [{ index: number, outcome: { status: 'ok', value: number } }] })
    }
    await session.replay()
    return session
  }

  async replay(): Promise<void> {
    for (const [index, input] of this.#inputs.entries()) {
      const step = { number: index + 1, now: index, input }
      const { type } = await this.#host.executeStep(this.#ref, step, owner, this.#options)
      if (type !== (index % 2 === 0 ? 'suspended' : 'completed')) throw new Error(`step ${index + 1} was ${type}`)
    }
  }

  /** Takes a snapshot and returns its size in bytes. */
  async snapshot(): Promise<number> {
    const wanted = { limits: defaultLimits, bytes: 32 * 1024 * 1024, seconds: 30 }
    const result = await this.#host.snapshot(this.#ref, this.#inputs.length, wanted, { attempt: 1, signal })
    if (result.type !== 'snapshot') throw new Error(result.reason)
    this.#text = `"${result.pieces.join('')}"`
    return this.#text.length
  }

  async restore(): Promise<void> {
    const sha256 = createHash('sha256').update(this.#text).digest('hex')
    const snapshot = { sha256, bytes: this.#text.length, preview: '' }
    const step = { number: this.#inputs.length, now: 0, input: { type: 'restore', snapshot } } as const
    const result = await this.#host.executeStep(this.#ref, step, owner, this.#options)
    if (result.type !== 'restored' || result.problem !== null) throw new Error(JSON.stringify(result))
  }

  /** Runs `work` in a new container. */
  async inNewContainer(work: () => Promise<void>): Promise<void> {
    await this.close()
    this.#ref = { ...this.#ref, epoch: this.#ref.epoch + 1 }
    await this.#host.open(this.#ref, owner, signal)
    await work()
  }

  close(): Promise<void> {
    return this.#host.close(this.#ref)
  }

  get #options() {
    const text = this.#text
    const readValue = async function* () {
      yield text
    }
    return { attempt: 1, onOutput: () => undefined, readValue, signal }
  }
}

// Rebuilds a session in a new container: by repeating every step, and from the snapshot after the last step.
await benchmark('rebuild', async (context) => {
  const host = await createHost(await createDocker(context), context)
  const rows: ResultRow[] = []
  for (const cells of [10, 100, 400]) {
    context.progress(`a session of ${cells} cells`)
    const session = await RebuiltSession.create(host, cells)
    const bytes = await session.snapshot()
    const { replay, restore, snapshot } = await interleaved(Math.min(context.runs, 5), {
      replay: () => timeMs(() => session.inNewContainer(() => session.replay())),
      restore: () => timeMs(() => session.inNewContainer(() => session.restore())),
      snapshot: () => timeMs(() => session.snapshot()),
    })
    await session.close()
    rows.push(
      { name: `${cells} cells, every step repeated`, unit: 'ms', samples: replay },
      { name: `${cells} cells, from a snapshot`, unit: 'ms', samples: restore },
      { name: `${cells} cells: every step / snapshot`, unit: 'x', samples: ratios(replay, restore) },
      { name: `${cells} cells: making the snapshot`, unit: 'ms', samples: snapshot },
      { name: `${cells} cells: its size`, unit: 'bytes', samples: [bytes] },
    )
  }
  return rows
})
