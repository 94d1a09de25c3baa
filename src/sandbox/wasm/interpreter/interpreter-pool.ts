import { PtcError } from '../../../common/errors.js'
import type { Interpreter } from './interpreter.js'
import type { SandboxFiles } from '../../sandbox-files.js'
import type { ChildLimits } from '../jail/jail-command.js'

interface InterpreterPoolOptions {
  /** Number of interpreters that are loaded before a session needs them. */
  readonly warm: number
  /** Maximum number of interpreters of this process, including idle ones. */
  readonly maximum: number
  readonly limits: ChildLimits
  readonly start: (limits: ChildLimits, files?: SandboxFiles) => Promise<Interpreter>
}

interface IdleInterpreter {
  /** The limits as a key for comparison. */
  readonly limitsKey: string
  readonly starting: Promise<Interpreter>
}

/** All interpreters of all backends of this process, because `maximum` limits the memory of the process. */
const liveInterpreters = new Set<Interpreter>()
let startingCount = 0

/**
 * Loads interpreters before a session needs them (loading takes more than half a second), and gives each to one
 * session. The limits are part of a child's command line, so the pool loads interpreters with the limits of the latest
 * session.
 */
export class InterpreterPool {
  readonly #options: InterpreterPoolOptions
  #limits: ChildLimits
  #idle: IdleInterpreter[] = []
  #closed = false

  constructor(options: InterpreterPoolOptions) {
    this.#options = options
    this.#limits = options.limits
    this.#refill()
  }

  /**
   * Returns a loaded interpreter with these limits, and removes it from the pool. One with files is loaded now.
   *
   * @throws PtcError SANDBOX_UNAVAILABLE
   */
  async take(limits: ChildLimits, files?: SandboxFiles): Promise<Interpreter> {
    if (files) return this.#startCold(limits, files)
    this.#limits = limits
    const interpreter = (await this.#takeWarm(limits)) ?? (await this.#startCold(limits))
    // The refill runs after the caller has continued with this interpreter.
    setImmediate(() => this.#refill())
    return interpreter
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#discard(this.#idle.splice(0))
  }

  /** Takes an interpreter that is loaded or being loaded. Returns undefined when none is alive. */
  async #takeWarm(limits: ChildLimits): Promise<Interpreter | undefined> {
    const limitsKey = JSON.stringify(limits)
    for (;;) {
      const index = this.#idle.findIndex((idle) => idle.limitsKey === limitsKey)
      const [idle] = index < 0 ? [] : this.#idle.splice(index, 1)
      if (idle === undefined) return undefined
      const interpreter = await idle.starting.then(waitUntilReady).catch(() => undefined)
      if (interpreter?.alive) return interpreter
    }
  }

  async #startCold(limits: ChildLimits, files?: SandboxFiles): Promise<Interpreter> {
    if (this.#closed) throw new PtcError('SANDBOX_UNAVAILABLE', 'the embedded sandbox backend is closed')
    // Discard idle interpreters with other limits, to stay within the maximum. One with files uses none of them.
    if (!files || this.#isFull) await this.#discard(this.#idle.splice(0))
    return waitUntilReady(await this.#start(limits, files))
  }

  async #start(limits: ChildLimits, files?: SandboxFiles): Promise<Interpreter> {
    const { maximum, start } = this.#options
    if (this.#isFull) {
      throw new PtcError('SANDBOX_UNAVAILABLE', `${maximum} embedded interpreters are running, which is the maximum`, {
        hint: 'Wait for a session to end, raise the maximum (each takes about 170 MB), or use the Docker backend.',
      })
    }
    startingCount += 1
    try {
      const interpreter = await start(limits, files)
      liveInterpreters.add(interpreter)
      void interpreter.ended.then(() => liveInterpreters.delete(interpreter))
      interpreter.setReferenced(false)
      return interpreter
    } finally {
      startingCount -= 1
    }
  }

  get #isFull(): boolean {
    return liveInterpreters.size + startingCount >= this.#options.maximum
  }

  #refill(): void {
    const limitsKey = JSON.stringify(this.#limits)
    while (!this.#closed && this.#idle.length < this.#options.warm) {
      if (this.#isFull) return
      const idle: IdleInterpreter = { limitsKey, starting: this.#start(this.#limits) }
      this.#idle.push(idle)
      // An interpreter that does not start, or dies while idle, is dropped. The next session starts one and reports an
      // error.
      const remove = () => {
        this.#idle = this.#idle.filter((other) => other !== idle)
      }
      idle.starting.then(async (interpreter) => interpreter.ended).then(remove, remove)
    }
  }

  async #discard(idle: readonly IdleInterpreter[]): Promise<void> {
    await Promise.all(
      idle.map(async ({ starting }) => starting.then(async (interpreter) => interpreter.kill()).catch(() => {})),
    )
  }
}

/** Keeps this process alive for the interpreter, and waits until it is ready. */
async function waitUntilReady(interpreter: Interpreter): Promise<Interpreter> {
  interpreter.setReferenced(true)
  await interpreter.ready
  return interpreter
}
