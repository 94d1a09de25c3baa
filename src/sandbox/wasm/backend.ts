import { totalmem } from 'node:os'
import path from 'node:path'
import { raceWithSignal } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { filesService } from '../../common/files/files.js'
import { defaultLanguageName } from '../../common/names.js'
import { languageNamesOf } from '../../common/run/language-names.js'
import { defaultLimits } from '../../common/run/limits.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { Limits } from '../../common/run/limits.js'
import type {
  BackendCheck,
  ContentsSpec,
  SandboxBackend,
  SandboxConnection,
  SandboxId,
  SandboxSpec,
} from '../backend.js'
import { filesRoot, type SandboxFiles } from '../sandbox-files.js'
import { cacheDirectory } from '../../platform/cache-directory.js'
import { canStripTypes, strippingNode } from '../../platform/strip-types.js'
import { BootImage } from './interpreter/boot-image.js'
import { checkWasm, contentsOf, describeInterpreter, wheelPlatform } from './check.js'
import { toFilesMessage } from './interpreter/files-message.js'
import { WasmConnection } from './interpreter/wasm-connection.js'
import { Interpreter } from './interpreter/interpreter.js'
import { InterpreterPool } from './interpreter/interpreter-pool.js'
import { bootImageKey, jailCommand, javascriptRunner, pythonRunner } from './jail/jail-command.js'
import type { ChildLimits, ChildSettings, InterpreterName, JailCommand } from './jail/jail-command.js'
import { probeJailLayers } from './jail/jail-layers.js'
import type { JailLayers } from './jail/jail-layers.js'
import type { WheelFolder } from './wheels/read-wheels.js'
import { type LoadedWheels, loadWheels } from './wheels/wheels.js'

/** A backend of which a worker can find out at its start whether it is usable as configured. */
export interface WasmBackend extends SandboxBackend {
  /**
   * Loads the configured wheels once.
   *
   * @throws PtcError SANDBOX_WHEELS_INVALID, SANDBOX_UNAVAILABLE
   */
  ensureWheels(): Promise<void>
}

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
  /** Language of the interpreters that are loaded before the first session. Default `python`. */
  readonly language?: string
  /** The folder of the wheels that code in Python can import. Default: none. */
  readonly wheels?: string | undefined
  /** The folder of another `runner.py`, for tests. */
  readonly runner?: string
  /** The folder of the boot image (32 MB). Default: the cache folder of this user. */
  readonly cache?: string
}

/** What the children of a language execute it with. */
type LanguageSettings = Required<Pick<ChildSettings, 'interpreter'>> & Pick<ChildSettings, 'isTyped'>

const languages: ReadonlyMap<string, LanguageSettings> = new Map<string, LanguageSettings>([
  ['python', { interpreter: 'pyodide' }],
  ['javascript', { interpreter: 'quickjs' }],
  ['typescript', { interpreter: 'quickjs', isTyped: true }],
])

/** Memory of one idle interpreter, with some for its program. */
const typicalBytes = 256 * 1024 * 1024

/**
 * Sandboxes without Docker: Python (Pyodide), or JavaScript and TypeScript (QuickJS) in WebAssembly, each in a separate
 * jailed child process. They end with this process, and only this process can attach to them. README.md in this folder
 * describes the isolation of the jail.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function createWasmBackend(options: WasmBackendOptions = {}): WasmBackend {
  return new EmbeddedBackend(options)
}

class EmbeddedBackend implements WasmBackend {
  readonly name = 'wasm'
  readonly files = true
  readonly #runner: string
  readonly #pools = new Map<LanguageSettings, InterpreterPool>()
  readonly #poolOptions: Pick<WasmBackendOptions, 'limits'> & Required<Pick<WasmBackendOptions, 'warm' | 'maximum'>>
  readonly #sandboxes = new Map<string, Sandbox>()
  readonly #bootImage: BootImage
  readonly #closing = new AbortController()
  readonly #wheelsFolder: string | undefined
  #layers: Promise<JailLayers> | undefined
  #wheels: Promise<LoadedWheels> | undefined

  constructor(options: WasmBackendOptions) {
    const { warm = 1, limits = defaultLimits, maximum = defaultMaximum(), runner = pythonRunner } = options
    const { cache = cacheDirectory(process.env) } = options
    if (!Number.isInteger(warm) || warm < 0) throw invalidOption(`warm must be 0 or more, not ${warm}`)
    if (!Number.isInteger(maximum) || maximum < 1) throw invalidOption(`maximum must be 1 or more, not ${maximum}`)
    this.#runner = runner
    this.#wheelsFolder = options.wheels
    this.#bootImage = new BootImage(path.join(cache, `python-${bootImageKey()}`))
    this.#poolOptions = { warm, maximum, limits }
    const first = languages.get(options.language ?? defaultLanguageName)
    if (first !== undefined && isUsable(first) && warm > 0) this.#poolOf(first)
  }

  async open(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxConnection> {
    signal.throwIfAborted()
    const { language, hasFiles } = usableLanguage(spec.language)
    if (language.interpreter === 'quickjs' && (hasFiles || spec.files !== undefined)) {
      throw new PtcError('SANDBOX_FILES_UNSUPPORTED', "code in JavaScript can't have files in the embedded sandbox", {
        hint: 'Use the Docker backend, or Python.',
      })
    }
    const key = sandboxKey(spec)
    let sandbox = this.#sandboxes.get(key)
    if (sandbox === undefined) {
      const interpreter = this.#poolOf(language).take(childLimits(spec.limits), spec.files)
      sandbox = { name: language.interpreter, interpreter, connection: undefined }
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

  async contentsOf({ language }: ContentsSpec): Promise<SandboxContents> {
    const { interpreter } = usableLanguage(language).language
    return contentsOf(interpreter, language, interpreter === 'pyodide' ? await this.#loadedWheels() : undefined)
  }

  async ensureWheels(): Promise<void> {
    await this.#loadedWheels()
  }

  async check(): Promise<BackendCheck> {
    const probe = () => this.#probe(childLimits(defaultLimits))
    return checkWasm(
      probe,
      () => this.#bootImage.inspect(),
      () => this.#loadedWheels(),
    )
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const sandboxes = [...this.#sandboxes.values()]
    this.#sandboxes.clear()
    const pools = [...this.#pools.values()]
    await Promise.all([...pools.map(async (pool) => pool.close()), ...sandboxes.map(killSandbox)])
  }

  /** Ends an older connection to the sandbox with `disconnected`. */
  async #connect(sandbox: Sandbox): Promise<SandboxConnection> {
    const interpreter = await sandbox.interpreter
    await sandbox.connection?.detach()
    const wheels = sandbox.name === 'pyodide' ? await this.#loadedWheels() : undefined
    sandbox.connection = new WasmConnection(interpreter, describeInterpreter(sandbox.name, wheels))
    return sandbox.connection
  }

  #poolOf(language: LanguageSettings): InterpreterPool {
    const found = this.#pools.get(language)
    if (found) return found
    const { warm, maximum, limits = defaultLimits } = this.#poolOptions
    const start = async (forLimits: ChildLimits, files?: SandboxFiles) => this.#start(language, forLimits, files)
    const pool = new InterpreterPool({ warm, maximum, limits: childLimits(limits), start })
    this.#pools.set(language, pool)
    if (this.#closing.signal.aborted) void pool.close()
    return pool
  }

  async #start(language: LanguageSettings, limits: ChildLimits, files?: SandboxFiles): Promise<Interpreter> {
    const layers = await this.#probe(limits)
    if (layers.permissionFlag === undefined) {
      throw new PtcError('SANDBOX_UNAVAILABLE', 'this Node has no permission model; the embedded sandbox needs it', {
        hint: 'Use Node 20.20 or newer, or the Docker backend.',
      })
    }
    const message = files && toFilesMessage(files)
    const settings =
      language.interpreter === 'quickjs'
        ? { ...language, limits, runner: javascriptRunner }
        : await this.#pythonSettings(layers, limits, message?.byteLength)
    try {
      return new Interpreter(jailCommand(layers, settings, 'main.mjs'), message)
    } catch (cause) {
      throw new PtcError('SANDBOX_UNAVAILABLE', `the embedded sandbox could not be started: ${messageOf(cause)}`, {
        hint: 'It needs a few bytes in the temporary folder, and files and processes that this worker may open.',
        cause,
      })
    }
  }

  async #pythonSettings(layers: JailLayers, limits: ChildLimits, bytesOfFiles?: number): Promise<ChildSettings> {
    const settings = { limits, runner: this.#runner }
    const makeCommand = () => jailCommand(layers, { ...settings, task: 'makeBootImage' }, 'main.mjs')
    const bootImage = await this.#bootImage.ensure(makeCommand, this.#closing.signal)
    const wheels = await this.#loadedWheels()
    const mounted = bytesOfFiles !== undefined && { files: { root: filesRoot, bytes: bytesOfFiles } }
    return { ...settings, bootImage, ...mounted, ...defined({ wheels }) }
  }

  /** All sandboxes of this backend have the same wheels: the folder is read once. */
  async #loadedWheels(): Promise<LoadedWheels | undefined> {
    const folder = this.#wheelsFolder
    if (folder === undefined) return undefined
    this.#wheels ??= loadWheels(folder, wheelPlatform(), (wheels) => this.#listCommand(wheels), this.#closing.signal)
    return this.#wheels
  }

  async #listCommand(wheels: WheelFolder): Promise<JailCommand> {
    const limits = childLimits(this.#poolOptions.limits ?? defaultLimits)
    const settings = { limits, runner: this.#runner, wheels, task: 'listPackages' } as const
    return jailCommand(await this.#probe(limits), settings, 'main.mjs')
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

function isUsable({ isTyped }: LanguageSettings): boolean {
  return canStripTypes || !isTyped
}

/**
 * Returns what executes a language, and whether the sandbox has uploads and artifacts. The runner of Python has them
 * without a setting.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
function usableLanguage(ofSandbox: string): { readonly language: LanguageSettings; readonly hasFiles: boolean } {
  const names = languageNamesOf(ofSandbox)
  const name = names.filter((each) => each !== filesService).join(',')
  const language = languages.get(name)
  if (language && isUsable(language)) return { language, hasFiles: names.includes(filesService) }
  throw language
    ? new PtcError('SANDBOX_UNAVAILABLE', `Node.js ${process.versions.node} can't remove the types of TypeScript`, {
        hint: `Use Node.js ${strippingNode} or later, the Docker backend, or JavaScript.`,
      })
    : new PtcError(
        'SANDBOX_UNAVAILABLE',
        `the embedded sandbox runs ${[...languages.keys()].join(', ')}, not ${name}`,
        {
          hint: 'Use the Docker backend.',
        },
      )
}

interface Sandbox {
  readonly name: InterpreterName
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
