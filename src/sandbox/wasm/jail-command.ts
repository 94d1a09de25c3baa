import { createHash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Limits } from '../../common/limits.js'
import { runnerDirectory } from '../assets.js'
import type { JailLayers } from './jail-layers.js'

/** The limits that a child is started with; an interpreter that was warmed for others is of no use. */
export type ChildLimits = Pick<Limits, 'memoryBytes' | 'tmpBytes' | 'tmpInodes' | 'fileBytes' | 'openFiles'>

/** Everything that makes one child differ from another. */
export interface ChildSettings {
  readonly limits: ChildLimits
  /** The folder with `runner.py` in it. */
  readonly runner: string
  /** The memory of a Python that has booted; absent: Python boots. */
  readonly bootImage?: string | undefined
  /** Whether this child only makes that. */
  readonly makesBootImage?: boolean
}

/** The child's own files: JavaScript and shell, run as they are. */
const wasmFolder = path.join(runnerDirectory, 'wasm')
/** The runner that every sandbox runs. */
export const pythonRunner = path.join(runnerDirectory, 'python')

const mebibyte = 1024 * 1024
/** V8's own objects: Pyodide's glue and whatever JavaScript the program makes. 25 MiB are used at rest. */
const heapMebibytes = 128
/** Compiled code and thread stacks, over what Node takes by itself; 165 MiB were measured at rest, the rest is room. */
const overheadBytes = 272 * mebibyte

/**
 * Nothing of the worker's environment: that is where credentials are. The time of day is that of every sandbox, not that of the host:
 * another host may have to run the same program again.
 */
export const childEnvironment = { TZ: 'UTC' }

export interface JailCommand {
  readonly file: string
  readonly args: readonly string[]
}

/** The command line of a jailed child, from the outside in: die with the parent, kernel limits, namespaces, root, Node. */
export function jailCommand(layers: JailLayers, settings: ChildSettings, entry: 'main.mjs' | 'probe.mjs'): JailCommand {
  const { bootImage, runner } = settings
  const image = bootImage === undefined ? [] : [path.dirname(bootImage)]
  const readable = [pyodideFolder(), realpathSync(wasmFolder), realpathSync(runner), ...image]
  const command = [
    ...dieWithParent(layers),
    ...kernelLimits(layers, settings.limits),
    ...namespaces(layers, readable),
    ...stripped(layers, readable),
    path.join(realpathSync(wasmFolder), entry),
    JSON.stringify(childArguments(settings)),
  ]
  const [file = process.execPath, ...args] = command
  return { file, args }
}

/** Names what a boot image is made of: another one is made when any of it changes. */
export function bootImageKey(): string {
  const { version } = JSON.parse(readFileSync(path.join(pyodideFolder(), 'package.json'), 'utf8')) as {
    version: string
  }
  const inside = readFileSync(path.join(wasmFolder, 'inside.mjs'))
  return `${version}-${createHash('sha256').update(inside).digest('hex').slice(0, 12)}`
}

/** The folder that the `pyodide` package is installed in; with symbolic links resolved, as Node's permissions want it. */
export function pyodideFolder(): string {
  return path.dirname(realpathSync(createRequire(import.meta.url).resolve('pyodide/package.json')))
}

function dieWithParent({ setpriv }: JailLayers): readonly string[] {
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--']
}

function kernelLimits({ shell, node }: JailLayers, { memoryBytes, tmpBytes }: ChildLimits): readonly string[] {
  if (shell === undefined || node === undefined) return []
  const kibibytes = Math.ceil((node.dataBytes + memoryBytes + tmpBytes + overheadBytes) / 1024)
  return [shell, path.join(wasmFolder, 'limits.sh'), String(kibibytes)]
}

function namespaces({ unshare, shell, node, emptyRoot }: JailLayers, readable: readonly string[]): readonly string[] {
  if (unshare === undefined) return []
  const spaces = ['--user', '--map-root-user', '--net', '--pid', '--ipc', '--uts', '--fork', '--kill-child']
  if (!emptyRoot || node === undefined || shell === undefined) return [unshare, ...spaces, '--']
  const files = [realpathSync(process.execPath), ...node.libraries, ...readable]
  return [unshare, ...spaces, '--mount', '--', shell, path.join(wasmFolder, 'root.sh'), ...files, '--']
}

function stripped({ permissionFlag }: JailLayers, readable: readonly string[]): readonly string[] {
  if (permissionFlag === undefined) throw new Error('this Node has no permission model')
  return [
    realpathSync(process.execPath),
    // No file but these can be read, none written; no child process, worker, native addon, WASI or inspector.
    permissionFlag,
    ...readable.map((folder) => `--allow-fs-read=${path.join(folder, '*')}`),
    // No eval and no Function from text, in any realm: emscripten_run_script and its like end here.
    '--disallow-code-generation-from-strings',
    '--no-addons',
    `--max-old-space-size=${heapMebibytes}`,
    '--experimental-vm-modules',
    '--no-warnings',
  ]
}

function childArguments({ limits, runner, ...image }: ChildSettings) {
  const { memoryBytes, ...quotas } = limits
  return { pyodide: pyodideFolder(), runner: realpathSync(runner), memoryBytes, quotas, ...image }
}
