import { createHash, randomUUID } from 'node:crypto'
import { defaultLimits } from '../dist/common/limits.js'
import type { SessionRef, StepInput } from '../dist/common/steps.js'
import type { SessionHost } from '../dist/sandbox/session-host.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios, type Row, timed } from './support/measure.js'
import { prepareDocker, startHost } from './support/sandboxes.js'

/** A little work, a little more state, and one call: two steps. */
const cell = (number: number): string => `
rows = globals().get("rows", []) + [{"n": ${number}, "text": "x" * 200}]
total = sum(n * n for n in range(20_000))
answer = await ping(value=${number})
`

const signal = AbortSignal.timeout(3_600_000)
const owner = { workflowId: 'bench-rebuild', runId: 'bench', limits: defaultLimits }

/** A session without Temporal, whose sandbox is thrown away and made again. */
class Session {
  readonly #host: SessionHost
  readonly #inputs: StepInput[] = []
  #ref: SessionRef = { id: randomUUID(), epoch: 1, backend: 'docker' }
  #text = ''

  private constructor(host: SessionHost) {
    this.#host = host
  }

  static async of(host: SessionHost, cells: number): Promise<Session> {
    const session = new Session(host)
    await host.open(session.#ref, owner, signal)
    for (let number = 1; number <= cells; number += 1) {
      session.#inputs.push({ type: 'cell', cell: number, source: cell(number) })
      session.#inputs.push({ type: 'results', results: [{ index: number, outcome: { status: 'ok', value: number } }] })
    }
    await session.repeat()
    return session
  }

  async repeat(): Promise<void> {
    for (const [place, input] of this.#inputs.entries()) {
      const step = { number: place + 1, now: place, input }
      const { type } = await this.#host.advance(this.#ref, step, owner, this.#options)
      if (type !== (place % 2 === 0 ? 'suspended' : 'completed')) throw new Error(`step ${place + 1} was ${type}`)
    }
  }

  /** Bytes of it. */
  async snapshot(): Promise<number> {
    const wanted = { limits: defaultLimits, bytes: 32 * 1024 * 1024, seconds: 30 }
    const taken = await this.#host.snapshot(this.#ref, this.#inputs.length, wanted, { attempt: 1, signal })
    if (taken.type !== 'snapshot') throw new Error(taken.reason)
    this.#text = `"${taken.pieces.join('')}"`
    return this.#text.length
  }

  async restore(): Promise<void> {
    const sha256 = createHash('sha256').update(this.#text).digest('hex')
    const snapshot = { sha256, bytes: this.#text.length, preview: '' }
    const step = { number: this.#inputs.length, now: 0, input: { type: 'restore', snapshot } } as const
    const answer = await this.#host.advance(this.#ref, step, owner, this.#options)
    if (answer.type !== 'restored' || answer.problem !== null) throw new Error(JSON.stringify(answer))
  }

  /** In another container. */
  async again(work: () => Promise<void>): Promise<void> {
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

// A container that is gone, made again: by repeating every step, and by the snapshot after the last.
await benchmark('rebuild', async (context) => {
  const host = await startHost(await prepareDocker(context), context)
  const rows: Row[] = []
  for (const cells of [10, 100, 400]) {
    context.tell(`a session of ${cells} cells`)
    const made = await Session.of(host, cells)
    const bytes = await made.snapshot()
    const { all, kept, taking } = await interleaved(Math.min(context.runs, 5), {
      all: () => timed(() => made.again(() => made.repeat())),
      kept: () => timed(() => made.again(() => made.restore())),
      taking: () => timed(() => made.snapshot()),
    })
    await made.close()
    rows.push(
      { what: `${cells} cells, every step repeated`, unit: 'ms', samples: all },
      { what: `${cells} cells, from a snapshot`, unit: 'ms', samples: kept },
      { what: `${cells} cells: every step / snapshot`, unit: 'x', samples: ratios(all, kept) },
      { what: `${cells} cells: making the snapshot`, unit: 'ms', samples: taking },
      { what: `${cells} cells: its size`, unit: 'bytes', samples: [bytes] },
    )
  }
  return rows
})
