import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from './find-program.js'
import { jailCommand } from './jail-command.js'
import type { ChildSettings } from './jail-command.js'
import { factsOfNode } from './node-facts.js'
import type { NodeFacts } from './node-facts.js'

/**
 * What stands around an interpreter on this machine, besides what always does: a child process without our environment,
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
  /** A root directory that has nothing of this machine in it but Node, its libraries, and Pyodide. */
  readonly emptyRoot: boolean
  /** Known wherever `shell` is. */
  readonly node: NodeFacts | undefined
}

const probeMs = 10_000

/** What is left where nothing else works. */
export const noLayers: JailLayers = {
  permissionFlag: undefined,
  setpriv: undefined,
  shell: undefined,
  unshare: undefined,
  emptyRoot: false,
  node: undefined,
}

/** Tries each layer for real, strongest first; nothing is assumed from versions. */
export async function probeJailLayers(settings: ChildSettings): Promise<JailLayers> {
  const linux = process.platform === 'linux'
  const permissionFlag = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )
  const bare: JailLayers = { ...noLayers, permissionFlag }
  if (!linux || permissionFlag === undefined) return bare
  const works = (layers: JailLayers) => starts(layers, settings)

  const node = await factsOfNode(probeMs).catch(() => undefined)
  const shell = node && findProgram('sh')
  const limited = { ...bare, shell, node }
  const first = shell !== undefined && (await works(limited)) ? limited : bare
  const bound = { ...first, setpriv: findProgram('setpriv') }
  const second = bound.setpriv !== undefined && (await works(bound)) ? bound : first
  const spaces = { ...second, unshare: findProgram('unshare') }
  if (spaces.unshare === undefined) return second
  // The new root is built by a shell script.
  const rooted = { ...spaces, emptyRoot: true }
  if (spaces.shell !== undefined && (await works(rooted))) return rooted
  return (await works(spaces)) ? spaces : second
}

/** Starts the real command with a child that only says that it runs. */
async function starts(layers: JailLayers, settings: ChildSettings): Promise<boolean> {
  const { file, args } = jailCommand(layers, settings, 'probe.mjs')
  const attempt = async () => {
    const { stdout } = await promisify(execFile)(file, args, { env: {}, timeout: probeMs, killSignal: 'SIGKILL' })
    return stdout === 'jailed'
  }
  // A no of the system comes by exit code. A signal is an accident (a busy machine), and must not cost a layer.
  return attempt()
    .catch((thrown: unknown) => (wasKilled(thrown) ? attempt() : false))
    .catch(() => false)
}

function wasKilled(thrown: unknown): boolean {
  return thrown instanceof Error && 'signal' in thrown && thrown.signal === 'SIGKILL'
}
