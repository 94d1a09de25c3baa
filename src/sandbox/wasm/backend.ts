import { totalmem } from 'node:os'
import path from 'node:path'
import { raceWithSignal } from '../../common/async/abort.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { Limits } from '../../common/run/limits.js'
import type { BackendCheck, SandboxBackend, SandboxConnection, SandboxId, SandboxSpec } from '../backend.js'
import { filesRoot, type SandboxFiles } from '../sandbox-files.js'
import { cacheDirectory } from '../../platform/cache-directory.js'
import { BootImage } from './interpreter/boot-image.js'
import { checkWasm, interpreterName } from './check.js'
import { toFilesMessage } from './interpreter/files-message.js'
import { WasmConnection } from './interpreter/wasm-connection.js'
import { Interpreter } from './interpreter/interpreter.js'
import { InterpreterPool } from './interpreter/interpreter-pool.js'
import { bootImageKey, jailCommand, pythonRunner } from './jail/jail-command.js'
import type { ChildLimits } from './jail/jail-command.js'
import { probeJailLayers } from './jail/jail-layers.js'
import type { JailLayers } from './jail/jail-layers.js'

export interface WasmBackendOptions {
  /**
   * Number of interpreters that are loaded before a session needs them; 0 loads each when a session opens. Default 1.
   */
  readonly warm?: number
  /** Limits of the interpreters that are loaded before the first session. Default {@link defaultLimits}. */
  readonly limits?: Limits
  /**
   * Maximum number of interpreters of this process. Default: the number that fits into half of the memory, at most 64.
   */
  readonly maximum?: number
  /** The folder of another `runner.py`, for tests. */
  readonly runner?: string
  /** The folder of the boot image (32 MB). Default: the cache folder of this user. */
  readonly cache?: string
}

/** The only language of Pyodide. */
const language = 'python'

/** Memory of one idle interpreter, with some for its program. */
const typicalBytes = 256 * 1024 * 1024

/**
 * Sandboxes without Docker: Python in WebAssembly (Pyodide), each in a separate jailed child process. They end with
 * this process, and only this process can attach to them. README.md in this folder describes the isolation of the jail.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function createWasmBackend(options: WasmBackendOptions = {}): SandboxBackend {
  return new WasmBackend(options)
}

class WasmBackend implements SandboxBackend {
  readonly name = 'wasm'
  readonly files = true
  readonly #runner: string
  readonly #pool: InterpreterPool
  readonly #sandboxes = new Map<string, Sandbox>()
  readonly #bootImage: BootImage
  readonly #closing = new AbortController()
  #layers: Promise<JailLayers> | undefined

  constructor(options: WasmBackendOptions) {
    const { warm = 1, limits = defaultLimits, maximum = defaultMaximum(), runner = pythonRunner } = options
    const { cache = cacheDirectory(process.env) } = options
    if (!Number.isInteger(warm) || warm < 0) throw invalidOption(`warm must be 0 or more, not ${warm}`)
    if (!Number.isInteger(maximum) || maximum < 1) throw invalidOption(`maximum must be 1 or more, not ${maximum}`)
    this.#runner = runner
    this.#bootImage = new BootImage(path.join(cache, `${language}-${bootImageKey()}`))
    this.#pool = new InterpreterPool({
      warm,
      maximum,
      limits: childLimits(limits),
      start: (forLimits, files) => this.#start(forLimits, files),
    })
  }

  async open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection> {
    signal.throwIfAborted()
    if (spec.language !== language) {
      throw new PtcError('SANDBOX_UNAVAILABLE', `the embedded sandbox runs ${language}, not ${spec.language}`, {
        hint: 'Use the Docker backend.',
      })
    }
    const key = sandboxKey(spec)
    let sandbox = this.#sandboxes.get(key)
    if (sandbox === undefined) {
      sandbox = { interpreter: this.#pool.take(childLimits(spec.limits), spec.files), connection: undefined }
      this.#sandboxes.set(key, sandbox)
      this.#removeWhenEnded(key, sandbox)
    }
    await raceWithSignal(signal, sandbox.interpreter)
    return this.#connect(sandbox)
  }

  async attach(id: SandboxId, signal: AbortSignal): Promise<SandboxConnection | undefined> {
    signal.throwIfAborted()
    const sandbox = this.#sandboxes.get(sandboxKey(id))
    if (sandbox === undefined) return undefined
    const interpreter = await raceWithSignal(signal, sandbox.interpreter).catch((thrown: unknown) => {
      if (signal.aborted) throw thrown
      return undefined
    })
    return interpreter?.alive ? this.#connect(sandbox) : undefined
  }

  async remove(id: SandboxId): Promise<void> {
    const key = sandboxKey(id)
    const sandbox = this.#sandboxes.get(key)
    this.#sandboxes.delete(key)
    await killSandbox(sandbox)
  }

  async check(): Promise<BackendCheck> {
    const probe = () => this.#probe(childLimits(defaultLimits))
    return checkWasm(probe, () => this.#bootImage.inspect())
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const sandboxes = [...this.#sandboxes.values()]
    this.#sandboxes.clear()
    await Promise.all([this.#pool.close(), ...sandboxes.map(killSandbox)])
  }

  /** Ends an older connection to the sandbox with `disconnected`. */
  async #connect(sandbox: Sandbox): Promise<SandboxConnection> {
    const interpreter = await sandbox.interpreter
    await sandbox.connection?.detach()
    sandbox.connection = new WasmConnection(interpreter, interpreterName())
    return sandbox.connection
  }

  async #start(limits: ChildLimits, files?: SandboxFiles): Promise<Interpreter> {
    const layers = await this.#probe(limits)
    if (layers.permissionFlag === undefined) {
      throw new PtcError('SANDBOX_UNAVAILABLE', 'this Node has no permission model; the embedded sandbox needs it', {
        hint: 'Use Node 20.20 or newer, or the Docker backend.',
      })
    }
    const settings = { limits, runner: this.#runner }
    const message = files && toFilesMessage(files)
    const mounted = message && { files: { root: filesRoot, bytes: message.byteLength } }
    const makeCommand = () => jailCommand(layers, { ...settings, makesBootImage: true }, 'main.mjs')
    const bootImage = await this.#bootImage.ensure(makeCommand, this.#closing.signal)
    try {
      const command = jailCommand(layers, { ...settings, bootImage, ...mounted }, 'main.mjs')
      return new Interpreter(command, message)
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

  #removeWhenEnded(key: string, sandbox: Sandbox): void {
    const removeEntry = () => {
      if (this.#sandboxes.get(key) === sandbox) this.#sandboxes.delete(key)
    }
    sandbox.interpreter.then(async (interpreter) => interpreter.ended).then(removeEntry, removeEntry)
  }
}

interface Sandbox {
  readonly interpreter: Promise<Interpreter>
  connection: WasmConnection | undefined
}

async function killSandbox(sandbox: Sandbox | undefined): Promise<void> {
  const interpreter = await sandbox?.interpreter.catch(() => undefined)
  await interpreter?.kill()
}

function sandboxKey({ namespace, session, epoch }: SandboxId): string {
  return JSON.stringify([namespace, session, epoch])
}

function childLimits({ memoryBytes, tmpBytes }: Limits): ChildLimits {
  return { memoryBytes, tmpBytes }
}

function defaultMaximum(): number {
  return Math.min(64, Math.max(2, Math.floor(totalmem() / 2 / typicalBytes)))
}

function invalidOption(message: string): PtcError {
  return new PtcError('CONFIG_INVALID', `embedded sandbox: ${message}`)
}
