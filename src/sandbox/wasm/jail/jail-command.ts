import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Limits } from '../../../common/run/limits.js'
import { maxFiles, maxOpenFiles } from '../../file-limits.js'
import { runnerDirectory } from '../../runner-directory.js'
import { type WheelFolder, wheelLimits } from '../wheels/read-wheels.js'
import type { JailLayers } from './jail-layers.js'

/** The limits on the command line of a child. An interpreter with other limits can't be used for a session. */
export type ChildLimits = Pick<Limits, 'memoryBytes' | 'tmpBytes'>

/** The interpreters that a child can run. */
export type InterpreterName = 'pyodide' | 'quickjs'

/** The settings in which children differ. */
export interface ChildSettings {
  readonly limits: ChildLimits
  /** Default `pyodide`. Of the settings below, `quickjs` has only `isTyped` and `runner`. */
  readonly interpreter?: InterpreterName
  /** Cells are TypeScript. */
  readonly isTyped?: true
  /** The folder with `runner.py` in it, or the files that both runners of JavaScript share. */
  readonly runner: string
  /** The file of the boot image. Without it, Python boots. */
  readonly bootImage?: string | undefined
  /** What the child writes to its standard output before it ends. Undefined: it runs a program. */
  readonly task?: 'makeBootImage' | 'listPackages'
  /** The wheels that the child loads before a program. `bytes`: of their files; undefined before it is known. */
  readonly wheels?: (WheelFolder & { readonly bytes?: number }) | undefined
  /** The files that the child reads from descriptor 5, for this folder. Undefined: there are none. */
  readonly files?: { readonly root: string; readonly bytes: number }
}

/** The files of the child, in JavaScript and shell, which are not compiled. */
const wasmFolder = path.join(runnerDirectory, 'wasm')
const quickjsFolder = path.join(runnerDirectory, 'quickjs')
/** The folder of the Python runner, the same for all backends. */
export const pythonRunner = path.join(runnerDirectory, 'python')
/** The folder of the JavaScript runner for containers. The embedded one uses most of its files. */
export const javascriptRunner = path.join(runnerDirectory, 'javascript')

const mebibyte = 1024 * 1024
/**
 * The heap of V8. Pyodide: its glue code and the JavaScript objects of the program; 25 MiB are used at rest. QuickJS: the
 * values of steps until the engine has them.
 */
const heapMebibytes: Readonly<Record<InterpreterName, number>> = { pyodide: 128, quickjs: 192 }
/** Compiled code and thread stacks, in addition to Node's own memory. 165 MiB were measured at rest. */
const overheadBytes = 272 * mebibyte

/**
 * The complete environment of a child. It has no variable of the worker's environment, which contains credentials. The
 * time zone is UTC in all sandboxes, because another host may have to run the same program again.
 */
export const childEnvironment = { TZ: 'UTC' }

export interface JailCommand {
  readonly file: string
  readonly args: readonly string[]
}

/**
 * Returns the command line of a jailed child, from the outside in: parent death signal, kernel limits, namespaces,
 * root, Node.
 */
export function jailCommand(layers: JailLayers, settings: ChildSettings, entry: 'main.mjs' | 'probe.mjs'): JailCommand {
  const { bootImage, runner, interpreter = 'pyodide', wheels } = settings
  const ofSettings = [...(bootImage === undefined ? [] : [path.dirname(bootImage)]), ...(wheels ? [wheels.folder] : [])]
  const ownFolders = interpreter === 'quickjs' ? quickjsFolders() : [pyodideFolder()]
  const readablePaths = [...ownFolders, realpathSync(wasmFolder), realpathSync(runner), ...ofSettings]
  const entryFolder = interpreter === 'quickjs' && entry === 'main.mjs' ? quickjsFolder : wasmFolder
  const command = [
    ...parentDeathArguments(layers),
    ...kernelLimitArguments(layers, settings),
    ...namespaceArguments(layers, readablePaths),
    ...nodeArguments(layers, readablePaths, interpreter),
    path.join(realpathSync(entryFolder), entry),
    JSON.stringify(childSettingsJson(settings)),
  ]
  const [file = process.execPath, ...args] = command
  return { file, args }
}

/** Returns a key of all inputs of a boot image. A change of an input creates a new image. */
export function bootImageKey(): string {
  const { version } = JSON.parse(readFileSync(path.join(pyodideFolder(), 'package.json'), 'utf8')) as {
    version: string
  }
  const realmMain = readFileSync(path.join(wasmFolder, 'realm-main.mjs'))
  return `${version}-${createHash('sha256').update(realmMain).digest('hex').slice(0, 12)}`
}

/**
 * Returns the folder of the installed `pyodide` package. Symbolic links are resolved, as Node's permission model
 * requires.
 */
export function pyodideFolder(): string {
  return path.dirname(realpathSync(createRequire(import.meta.url).resolve('pyodide/package.json')))
}

/** Returns the folder of the installed `quickjs-wasi` package. */
export function quickjsPackage(): string {
  return path.dirname(realpathSync(createRequire(import.meta.url).resolve('quickjs-wasi/package.json')))
}

/** Returns the file of `node-inspect-extracted`: `util.inspect` of Node, which the engine gets as its formatter. */
function inspectFile(): string {
  return realpathSync(createRequire(import.meta.url).resolve('node-inspect-extracted'))
}

function quickjsFolders(): readonly string[] {
  return [realpathSync(quickjsFolder), quickjsPackage(), path.dirname(inspectFile())]
}

function parentDeathArguments({ setpriv }: JailLayers): readonly string[] {
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--']
}

/** A file in `/tmp` that grows is copied. */
const copiesOfTmp = 2

/** The child has the files in memory: as it reads them, and as its file system has them. */
const copiesOfFiles = 2

function kernelLimitArguments(
  { shell, node }: JailLayers,
  { limits, files, wheels }: ChildSettings,
): readonly string[] {
  if (shell === undefined || node === undefined) return []
  const { memoryBytes, tmpBytes } = limits
  const ofWheels = wheels ? wheels.archiveBytes + (wheels.bytes ?? wheelLimits.bytes) * copiesOfFiles : 0
  const filesBytes = (files?.bytes ?? 0) * copiesOfFiles + ofWheels
  const bytes = node.dataBytes + memoryBytes + copiesOfTmp * tmpBytes + overheadBytes + filesBytes
  const kibibytes = Math.ceil(bytes / 1024)
  return [shell, path.join(wasmFolder, 'limits.sh'), String(kibibytes)]
}

function namespaceArguments(
  { unshare, shell, node, emptyRoot }: JailLayers,
  readable: readonly string[],
): readonly string[] {
  if (unshare === undefined) return []
  const spaces = ['--user', '--map-root-user', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child']
  if (!emptyRoot || node === undefined || shell === undefined) return [unshare, ...spaces, '--']
  const files = [realpathSync(process.execPath), ...node.libraries, ...readable]
  return [unshare, ...spaces, '--mount', '--', shell, path.join(wasmFolder, 'empty-root.sh'), ...files, '--']
}

const interpreterFlags: Readonly<Record<InterpreterName, readonly string[]>> = {
  pyodide: ['--experimental-vm-modules'],
  // The engine reports a deep recursion before this limit. It must stay below the stack of a thread, 8 MiB.
  quickjs: ['--stack-size=3900'],
}

function nodeArguments(
  { permissionFlag }: JailLayers,
  readable: readonly string[],
  interpreter: InterpreterName,
): readonly string[] {
  if (permissionFlag === undefined) throw new Error('this Node has no permission model')
  return [
    realpathSync(process.execPath),
    // Only these files can be read, and none can be written. There is no child process, worker, native addon, WASI or
    // inspector.
    permissionFlag,
    ...readable.map((folder) => `--allow-fs-read=${path.join(folder, '*')}`),
    // This disables `eval` and `Function` from text in all realms, and also emscripten_run_script.
    '--disallow-code-generation-from-strings',
    '--no-addons',
    `--max-old-space-size=${heapMebibytes[interpreter]}`,
    ...interpreterFlags[interpreter],
    '--no-warnings',
  ]
}

/** The folder of the sandbox with the packages of wheels. */
const packagesRoot = '/packages'

/** Returns the argument of main.mjs in runner/wasm or runner/quickjs. */
function childSettingsJson({ limits, runner, files, interpreter, isTyped, wheels, ...others }: ChildSettings) {
  const { memoryBytes, tmpBytes } = limits
  if (interpreter === 'quickjs') return { quickjs: quickjsPackage(), inspect: inspectFile(), memoryBytes, isTyped }
  const quotas = { tmpBytes, maxFiles, maxOpenFiles }
  return {
    pyodide: pyodideFolder(),
    runner: realpathSync(runner),
    memoryBytes,
    quotas,
    filesRoot: files?.root,
    wheels: wheels && { folder: wheels.folder, root: packagesRoot, wheels: wheels.wheels, limits: wheelLimits },
    ...others,
  }
}
