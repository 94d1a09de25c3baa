import { utf8Length } from '../common/text.js'
import type { AdvanceAnswer, RecordedStep, Step, StepInput } from '../common/steps.js'

/** Recorded steps that are repeated by one activity may not be larger than this together. */
const batchBytes = 1_250_000

/** All a session has been through: enough to make it again. */
export class Journal {
  readonly #steps: RecordedStep[] = []
  /** Number of steps before the current cell. */
  #cellStart = 0

  get length(): number {
    return this.#steps.length
  }

  /** The next step to take. */
  next(input: StepInput, now: number): Step {
    if (input.type === 'cell') this.#cellStart = this.#steps.length
    return { number: this.#steps.length + 1, now, input }
  }

  record({ now, input }: Step, answer: AdvanceAnswer): void {
    const recorded: RecordedStep['answer'] =
      answer.type === 'suspended'
        ? { type: 'suspended', calls: answer.calls.map(({ index, digest }) => ({ index, digest })) }
        : { type: 'ended' }
    const { interruptedAfterMs } = 'interruptedAfterMs' in answer ? answer : { interruptedAfterMs: undefined }
    this.#steps.push({
      now,
      input,
      answer: recorded,
      ...(interruptedAfterMs === undefined ? {} : { interruptedAfterMs }),
    })
  }

  /** Drops the current cell: it is what broke the session, so a rebuild must not run it again. */
  dropCell(): void {
    this.#steps.length = this.#cellStart
  }

  /** Forgets all: what is recorded can't be repeated. */
  clear(): void {
    this.#cellStart = 0
    this.#steps.length = 0
  }

  /** The recorded steps in order, in batches that one activity can carry. */
  batches(): { readonly first: number; readonly steps: readonly RecordedStep[] }[] {
    const batches: { first: number; steps: RecordedStep[] }[] = []
    let bytes = Infinity
    for (const [index, step] of this.#steps.entries()) {
      const size = utf8Length(JSON.stringify(step))
      if (bytes + size > batchBytes) {
        batches.push({ first: index + 1, steps: [] })
        bytes = 0
      }
      batches.at(-1)?.steps.push(step)
      bytes += size
    }
    return batches
  }
}
