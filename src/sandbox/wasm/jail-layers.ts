import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './find-program.js'
import { jailCommand } from './jail-command.js'
import type { ChildSettings } from './jail-command.js'

/**
 * What stands around an interpreter on this machine, besides what always does: a child process with an empty environment,
 * Node's permission model, no code from strings, an empty JavaScript realm, and the cap on Python's memory.
 */
export interface JailLayers {
  /** `--permission`, or its name of the time when it was an experiment; undefined: Node is too old. */
  readonly permissionFlag: string | undefined
  /** Path of `setpriv`: the kernel kills the child when its parent dies, and no privilege can be gained. */
  readonly setpriv: string | undefined
  /** Path of a shell that can set kernel limits: memory of the whole process, files, descriptors. */
  readonly shell: string | undefined
  /** Path of `unshare`: own user, network, process, IPC and host name spaces. */
  readonly unshare: string | undefined
  /**
   * The shared libraries of Node, when a root directory can be made that has nothing of this machine in it but these,
   * Node, and Pyodide.
   */
  readonly nodeLibraries: readonly string[] | undefined
}

const probeMs = 10_000

/** Tries each layer for real, strongest first; nothing is assumed from versions. */
export async function probeJailLayers(settings: ChildSettings): Promise<JailLayers> {
  const linux = process.platform === 'linux'
  const permissionFlag = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )
  const bare: JailLayers = {
    permissionFlag,
    setpriv: undefined,
    shell: undefined,
    unshare: undefined,
    nodeLibraries: undefined,
  }
  if (!linux || permissionFlag === undefined) return bare
  const works = (layers: JailLayers) => starts(layers, settings)

  const shell = { ...bare, shell: findProgram('sh') }
  const limited = shell.shell !== undefined && (await works(shell)) ? shell : bare
  const bound = { ...limited, setpriv: findProgram('setpriv') }
  const base = bound.setpriv !== undefined && (await works(bound)) ? bound : limited
  const spaces = { ...base, unshare: findProgram('unshare') }
  if (spaces.unshare === undefined) return base
  // The new root is built by a shell script.
  const rooted = { ...spaces, nodeLibraries: await librariesOfNode() }
  if (spaces.shell !== undefined && (await works(rooted))) return rooted
  return (await works(spaces)) ? spaces : base
}

/** What Node is linked with; asked of a fresh one, because this process may have loaded anything. */
async function librariesOfNode(): Promise<readonly string[]> {
  const script = 'process.stdout.write(JSON.stringify(process.report.getReport().sharedObjects))'
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { env: {}, timeout: probeMs })
  const libraries: unknown = JSON.parse(stdout)
  const isFile = (library: unknown): library is string => typeof library === 'string' && path.isAbsolute(library)
  return Array.isArray(libraries) ? libraries.filter(isFile) : []
}

/** Starts the real command with a child that only says that it runs. */
async function starts(layers: JailLayers, settings: ChildSettings): Promise<boolean> {
  const { file, args } = jailCommand(layers, settings, 'probe.mjs')
  try {
    const { stdout } = await promisify(execFile)(file, args, { env: {}, timeout: probeMs, killSignal: 'SIGKILL' })
    return stdout === 'jailed'
  } catch {
    return false
  }
}
