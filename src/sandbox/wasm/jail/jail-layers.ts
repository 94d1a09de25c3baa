import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findProgram } from './find-program.js'
import { jailCommand } from './jail-command.js'
import type { ChildSettings } from './jail-command.js'
import { inspectNode } from './node-info.js'
import type { NodeInfo } from './node-info.js'

/**
 * The jail layers that this machine supports, in addition to those that always exist: a child process without the
 * worker's environment, Node's permission model, no code from strings, an empty JavaScript realm, and the cap on
 * Python's memory.
 */
export interface JailLayers {
  /** `--permission`, or its older name `--experimental-permission`; undefined when Node is too old. */
  readonly permissionFlag: string | undefined
  /** Path of `setpriv`: the kernel kills the child when its parent dies, and no privilege can be gained. */
  readonly setpriv: string | undefined
  /** Path of a shell that can set kernel limits: memory of the whole process, files, descriptors. */
  readonly shell: string | undefined
  /** Path of `unshare`: separate user, network, process, IPC and UTS namespaces. */
  readonly unshare: string | undefined
  /** True for a root directory that contains only Node, its libraries and Pyodide of this machine. */
  readonly emptyRoot: boolean
  /** Defined when `shell` is. */
  readonly node: NodeInfo | undefined
}

const probeTimeoutMs = 10_000

export const noJailLayers: JailLayers = {
  permissionFlag: undefined,
  setpriv: undefined,
  shell: undefined,
  unshare: undefined,
  emptyRoot: false,
  node: undefined,
}

/**
 * Starts a child with each layer, one after the other, and keeps the layers that work. Versions are not used as
 * evidence.
 */
export async function probeJailLayers(settings: ChildSettings): Promise<JailLayers> {
  const linux = process.platform === 'linux'
  const permissionFlag = ['--permission', '--experimental-permission'].find((flag) =>
    process.allowedNodeEnvironmentFlags.has(flag),
  )
  let layers: JailLayers = { ...noJailLayers, permissionFlag }
  if (!linux || permissionFlag === undefined) return layers
  const tryAdd = async (added: Partial<JailLayers>): Promise<boolean> => {
    const candidate = { ...layers, ...added }
    if (!(await canStart(candidate, settings))) return false
    layers = candidate
    return true
  }

  const node = await inspectNode(probeTimeoutMs).catch(() => undefined)
  const shell = node && findProgram('sh')
  if (shell !== undefined) await tryAdd({ shell, node })
  const setpriv = findProgram('setpriv')
  if (setpriv !== undefined) await tryAdd({ setpriv })
  const unshare = findProgram('unshare')
  if (unshare === undefined) return layers
  // A shell script builds the empty root.
  const hasEmptyRoot = layers.shell !== undefined && (await tryAdd({ unshare, emptyRoot: true }))
  if (!hasEmptyRoot) await tryAdd({ unshare })
  return layers
}

/** Starts the real command line with a child that only reports that it runs. */
async function canStart(layers: JailLayers, settings: ChildSettings): Promise<boolean> {
  const { file, args } = jailCommand(layers, settings, 'probe.mjs')
  const attempt = async () => {
    const { stdout } = await promisify(execFile)(file, args, {
      env: {},
      timeout: probeTimeoutMs,
      killSignal: 'SIGKILL',
    })
    return stdout === 'jailed'
  }
  // An exit code means that the system refuses the layer. A timeout means that the machine is busy, so try again.
  return attempt()
    .catch((thrown: unknown) => (wasKilled(thrown) ? attempt() : false))
    .catch(() => false)
}

function wasKilled(thrown: unknown): boolean {
  return thrown instanceof Error && 'signal' in thrown && thrown.signal === 'SIGKILL'
}
