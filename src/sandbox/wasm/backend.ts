import { totalmem } from 'node:os'
import path from 'node:path'
import { messageOf, PtcError } from '../../common/errors.js'
import { defaultLimits } from '../../common/limits.js'
import type { Limits } from '../../common/limits.js'
import type { BackendCheck, SandboxBackend, SandboxConnection, SandboxId, SandboxSpec } from '../backend.js'
import { cacheDirectory } from '../cache-directory.js'
import { BootImage } from './boot-image.js'
import { checkWasm, interpreterName } from './check.js'
import { WasmConnection } from './connection.js'
import { Interpreter } from './interpreter.js'
import { InterpreterPool } from './interpreter-pool.js'
import { bootImageKey, jailCommand, pythonRunner } from './jail-command.js'
import type { ChildLimits } from './jail-command.js'
import { probeJailLayers } from './jail-layers.js'
import type { JailLayers } from './jail-layers.js'

export interface WasmBackendOptions {
  /** Interpreters kept loaded before they are needed; 0 loads each when a session opens. Default 1. */
  readonly warm?: number
  /** Limits to expect, for the interpreters loaded ahead. Default {@link defaultLimits}. */
  readonly limits?: Limits
  /** Interpreters this process may have at once. Default: as many as fit into half of the machine's memory, at most 64. */
  readonly maximum?: number
  /** Folder of another `runner.py`; for tests. */
  readonly runner?: string
  /** Where the image of a booted Python is kept (32 MB). Default: the cache folder of this user. */
  readonly cache?: string
}

/** One interpreter at rest, and some use of it. */
const typicalBytes = 256 * 1024 * 1024

/**
 * Sandboxes without Docker: Python in WebAssembly (Pyodide), each in a jailed child process of its own. They end with
 * this process, and only it can attach to them. What the jail is worth: README.md in this folder.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function createWasmBackend(options: WasmBackendOptions = {}): SandboxBackend {
  return new WasmBackend(options)
}

class WasmBackend implements SandboxBackend {
  readonly name = 'wasm'
  readonly #runner: string
  readonly #pool: InterpreterPool
  readonly #sandboxes = new Map<string, Sandbox>()
  readonly #bootImage: BootImage
  readonly #closing = new AbortController()
  #layers: Promise<JailLayers> | undefined

  constructor(options: WasmBackendOptions) {
    const { warm = 1, limits = defaultLimits, maximum = defaultMaximum(), runner = pythonRunner } = options
    const { cache = cacheDirectory(process.env) } = options
    if (!Number.isInteger(warm) || warm < 0) throw invalid(`warm must be 0 or more, not ${warm}`)
    if (!Number.isInteger(maximum) || maximum < 1) throw invalid(`maximum must be 1 or more, not ${maximum}`)
    this.#runner = runner
    this.#bootImage = new BootImage(path.join(cache, `python-${bootImageKey()}`))
    this.#pool = new InterpreterPool({ warm, maximum, limits: childLimits(limits), start: (each) => this.#start(each) })
  }

  async open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection> {
    signal.throwIfAborted()
    const key = keyOf(spec)
    let sandbox = this.#sandboxes.get(key)
    if (sandbox === undefined) {
      sandbox = { interpreter: this.#pool.take(childLimits(spec.limits)), connection: undefined }
      this.#sandboxes.set(key, sandbox)
      this.#forgetAtEnd(key, sandbox)
    }
    await orAborted(sandbox.interpreter, signal)
    return this.#connect(sandbox)
  }

  async attach(id: SandboxId, signal: AbortSignal): Promise<SandboxConnection | undefined> {
    signal.throwIfAborted()
    const sandbox = this.#sandboxes.get(keyOf(id))
    if (sandbox === undefined) return undefined
    const interpreter = await orAborted(sandbox.interpreter, signal).catch((thrown: unknown) => {
      if (signal.aborted) throw thrown
      return undefined
    })
    return interpreter?.alive ? this.#connect(sandbox) : undefined
  }

  async remove(id: SandboxId): Promise<void> {
    const key = keyOf(id)
    const sandbox = this.#sandboxes.get(key)
    this.#sandboxes.delete(key)
    await end(sandbox)
  }

  async check(): Promise<BackendCheck> {
    const probe = () => this.#probe(childLimits(defaultLimits))
    return checkWasm(probe, () => this.#bootImage.look())
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const sandboxes = [...this.#sandboxes.values()]
    this.#sandboxes.clear()
    await Promise.all([this.#pool.close(), ...sandboxes.map(end)])
  }

  /** The newest connection is the one that counts: an earlier one is told that it has lost its hold. */
  async #connect(sandbox: Sandbox): Promise<SandboxConnection> {
    const interpreter = await sandbox.interpreter
    await sandbox.connection?.detach()
    sandbox.connection = new WasmConnection(interpreter, interpreterName())
    return sandbox.connection
  }

  async #start(limits: ChildLimits): Promise<Interpreter> {
    const layers = await this.#probe(limits)
    if (layers.permissionFlag === undefined) {
      throw new PtcError('SANDBOX_UNAVAILABLE', 'this Node has no permission model; the embedded sandbox needs it', {
        hint: 'Use Node 20.20 or newer, or the Docker backend.',
      })
    }
    const settings = { limits, runner: this.#runner }
    const maker = () => jailCommand(layers, { ...settings, makesBootImage: true }, 'main.mjs')
    const bootImage = await this.#bootImage.path(maker, this.#closing.signal)
    try {
      return new Interpreter(jailCommand(layers, { ...settings, bootImage }, 'main.mjs'))
    } catch (cause) {
      throw new PtcError('SANDBOX_UNAVAILABLE', `the embedded sandbox could not be started: ${messageOf(cause)}`, {
        hint: 'It needs a few bytes in the temporary folder, and files and processes that this worker may open.',
        cause,
      })
    }
  }

  async #probe(limits: ChildLimits): Promise<JailLayers> {
    this.#layers ??= probeJailLayers({ limits, runner: this.#runner })
    return this.#layers
  }

  #forgetAtEnd(key: string, sandbox: Sandbox): void {
    const forget = () => {
      if (this.#sandboxes.get(key) === sandbox) this.#sandboxes.delete(key)
    }
    sandbox.interpreter.then(async (interpreter) => interpreter.ended).then(forget, forget)
  }
}

interface Sandbox {
  readonly interpreter: Promise<Interpreter>
  connection: WasmConnection | undefined
}

async function end(sandbox: Sandbox | undefined): Promise<void> {
  const interpreter = await sandbox?.interpreter.catch(() => undefined)
  await interpreter?.kill()
}

function keyOf({ namespace, session, epoch }: SandboxId): string {
  return JSON.stringify([namespace, session, epoch])
}

function childLimits({ memoryBytes, tmpBytes, tmpInodes, fileBytes, openFiles }: Limits): ChildLimits {
  return { memoryBytes, tmpBytes, tmpInodes, fileBytes, openFiles }
}

function defaultMaximum(): number {
  return Math.min(64, Math.max(2, Math.floor(totalmem() / 2 / typicalBytes)))
}

function invalid(message: string): PtcError {
  return new PtcError('CONFIG_INVALID', `embedded sandbox: ${message}`)
}

async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
