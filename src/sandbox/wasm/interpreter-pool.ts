import { PtcError } from '../../common/errors.js'
import type { Interpreter } from './interpreter.js'
import type { ChildLimits } from './jail-command.js'

export interface InterpreterPoolOptions {
  /** Interpreters kept loaded for sessions to come. */
  readonly warm: number
  /** Interpreters this process may have at once, warm ones included. */
  readonly maximum: number
  readonly limits: ChildLimits
  readonly start: (limits: ChildLimits) => Promise<Interpreter>
}

interface Idle {
  readonly profile: string
  readonly starting: Promise<Interpreter>
}

/** Every interpreter of the process, whichever backend started it: they share its memory. */
const living = new Set<Interpreter>()
let beginning = 0

/**
 * Keeps interpreters loaded before they are needed (loading takes more than half a second) and hands each out once. The limits
 * are part of a child's command line, so the ones kept are those of the latest session.
 */
export class InterpreterPool {
  readonly #options: InterpreterPoolOptions
  #limits: ChildLimits
  #idle: Idle[] = []
  #closed = false

  constructor(options: InterpreterPoolOptions) {
    this.#options = options
    this.#limits = options.limits
    this.#refill()
  }

  /**
   * A loaded interpreter with these limits, the caller's from now on.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE
   */
  async take(limits: ChildLimits): Promise<Interpreter> {
    this.#limits = limits
    const interpreter = (await this.#takeWarm(limits)) ?? (await this.#startNow(limits))
    // After whoever waits for this one has gone on with it.
    setImmediate(() => this.#refill())
    return interpreter
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#dismiss(this.#idle.splice(0))
  }

  /** One that was loaded ahead, or is about to be; undefined when there is none that lives. */
  async #takeWarm(limits: ChildLimits): Promise<Interpreter | undefined> {
    const profile = JSON.stringify(limits)
    for (;;) {
      const index = this.#idle.findIndex((idle) => idle.profile === profile)
      const [idle] = index < 0 ? [] : this.#idle.splice(index, 1)
      if (idle === undefined) return undefined
      const interpreter = await idle.starting.then(whenReady).catch(() => undefined)
      if (interpreter?.alive) return interpreter
    }
  }

  async #startNow(limits: ChildLimits): Promise<Interpreter> {
    if (this.#closed) throw new PtcError('SANDBOX_UNAVAILABLE', 'the embedded sandbox backend is closed')
    // Those that wait with other limits are in the way, if anything is.
    await this.#dismiss(this.#idle.splice(0))
    return whenReady(await this.#start(limits))
  }

  async #start(limits: ChildLimits): Promise<Interpreter> {
    const { maximum, start } = this.#options
    if (living.size + beginning >= maximum) {
      throw new PtcError(
        'SANDBOX_UNAVAILABLE',
        `${maximum} embedded interpreters are running, which is the most allowed`,
        {
          hint: 'Wait for a session to end, raise the maximum (each takes about 170 MB), or use the Docker backend.',
        },
      )
    }
    beginning += 1
    try {
      const interpreter = await start(limits)
      living.add(interpreter)
      void interpreter.ended.then(() => living.delete(interpreter))
      interpreter.hold(false)
      return interpreter
    } finally {
      beginning -= 1
    }
  }

  #refill(): void {
    const profile = JSON.stringify(this.#limits)
    while (!this.#closed && this.#idle.length < this.#options.warm) {
      if (living.size + beginning >= this.#options.maximum) return
      const idle: Idle = { profile, starting: this.#start(this.#limits) }
      this.#idle.push(idle)
      // One that does not start or dies while it waits is not offered; the next session starts its own and hears why.
      const forget = () => {
        this.#idle = this.#idle.filter((other) => other !== idle)
      }
      idle.starting.then(async (interpreter) => interpreter.ended).then(forget, forget)
    }
  }

  async #dismiss(idle: readonly Idle[]): Promise<void> {
    await Promise.all(
      idle.map(async ({ starting }) => starting.then(async (interpreter) => interpreter.kill()).catch(() => {})),
    )
  }
}

/** Somebody waits for it from here on, and so does this process. */
async function whenReady(interpreter: Interpreter): Promise<Interpreter> {
  interpreter.hold(true)
  await interpreter.ready
  return interpreter
}
