import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { BackendCheck, BackendProblem } from '../backend.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { pluralize } from '../../common/text/text.js'
import type { BootImageState } from './interpreter/boot-image.js'
import { pyodideFolder, quickjsPackage } from './jail/jail-command.js'
import type { InterpreterName } from './jail/jail-command.js'
import type { JailLayers } from './jail/jail-layers.js'
import type { WheelPlatform } from './wheels/wheel-tags.js'
import type { LoadedWheels } from './wheels/wheels.js'

/**
 * Reports the interpreter, its jail layers and the boot image in one line, and each missing layer as a problem. Never
 * throws.
 */
export async function checkWasm(
  probeLayers: () => Promise<JailLayers>,
  inspectBootImage: () => Promise<BootImageState>,
  loadWheels: () => Promise<LoadedWheels | undefined>,
): Promise<BackendCheck> {
  try {
    const layers = await probeLayers()
    const image = await inspectBootImage()
    const wheels = await loadWheels().catch((thrown: unknown) => {
      if (PtcError.isInstance(thrown) && thrown.code === 'SANDBOX_WHEELS_INVALID') return thrown
      throw thrown
    })
    const problems = [...layerProblems(layers), ...bootImageProblems(image), ...wheelProblems(wheels)]
    const usable = problems.every(({ severity }) => severity !== 'error')
    return {
      usable,
      summary: `${interpreterTitle('pyodide')}, ${titles.quickjs()}; ${layerNames(layers).join(', ')}${bootImageSummary(image)}${wheelsSummary(wheels)}`,
      problems,
    }
  } catch (thrown) {
    const remedy = 'Install the packages `pyodide` and `quickjs-wasi` again, or use the Docker backend.'
    return {
      usable: false,
      summary: 'the embedded sandbox does not start',
      problems: [{ severity: 'error', message: messageOf(thrown), remedy }],
    }
  }
}

/** Returns the interpreter and Node, for people. */
export function interpreterTitle(name: InterpreterName): string {
  return `${titles[name]()} on Node ${process.versions.node}`
}

const titles: Readonly<Record<InterpreterName, () => string>> = {
  pyodide: () => {
    const { version } = readJson(pyodideFolder(), 'package.json') as { readonly version: string }
    return `Pyodide ${version} (Python ${pythonVersion()})`
  },
  quickjs: () => {
    const { version } = readJson(quickjsPackage(), 'package.json') as { readonly version: string }
    return `QuickJS (quickjs-wasi ${version})`
  },
}

const programs: Readonly<Record<InterpreterName, () => string>> = {
  pyodide: () => `Python ${pythonVersion()} (Pyodide)`,
  quickjs: titles.quickjs,
}

function pythonVersion(): string {
  const { info } = readJson(pyodideFolder(), 'pyodide-lock.json') as { readonly info: { readonly python: string } }
  return info.python
}

/** Returns the Python for which the wheels must be. */
export function wheelPlatform(): WheelPlatform {
  const { info } = readJson(pyodideFolder(), 'pyodide-lock.json') as { readonly info: { readonly abi_version: string } }
  const [major = 0, minor = 0] = pythonVersion().split('.').map(Number)
  return { python: [major, minor], abi: info.abi_version }
}

/** Describes an interpreter for people. The digest tells whether two sandboxes have the same packages. */
export function describeInterpreter(name: InterpreterName, wheels: LoadedWheels | undefined): string {
  const packages = wheels ? `, ${pluralize(wheels.wheels.length, 'wheel')} ${wheels.digest.slice(0, 12)}` : ''
  return `${interpreterTitle(name)}${packages}`
}

/**
 * Returns what programs find in the embedded sandbox of a language: one interpreter, whose files have its version, and
 * the packages of the wheels.
 */
export function contentsOf(name: InterpreterName, language: string, wheels: LoadedWheels | undefined): SandboxContents {
  const none = { names: [], more: 0 }
  const packages = { apt: none, pip: wheels?.packages ?? none, npm: none }
  return { programs: [programs[name]()], languages: [language], packages }
}

function wheelsSummary(wheels: LoadedWheels | PtcError | undefined): string {
  if (wheels === undefined || PtcError.isInstance(wheels)) return ''
  return `; ${pluralize(wheels.wheels.length, 'wheel')} in ${wheels.folder}`
}

function wheelProblems(wheels: LoadedWheels | PtcError | undefined): readonly BackendProblem[] {
  if (!PtcError.isInstance(wheels)) return []
  return [{ severity: 'error', message: wheels.message, remedy: wheels.hint ?? '' }]
}

function readJson(folder: string, name: string): unknown {
  return JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
}

function layerNames(layers: JailLayers): readonly string[] {
  return [
    `child process without the worker's environment, permission model, no code from strings, empty realm`,
    ...(layers.setpriv ? ['no new privileges, dies with the worker'] : []),
    ...(layers.shell ? ['kernel limits'] : []),
    ...(layers.unshare ? ['own network, process and IPC namespaces'] : []),
    ...(layers.emptyRoot ? ['empty root directory'] : []),
  ]
}

function bootImageSummary({ state, folder }: BootImageState): string {
  if (state === 'unavailable') return ''
  return state === 'cached'
    ? `; the boot image is cached in ${folder}`
    : `; the first start creates the boot image in ${folder}`
}

function bootImageProblems(image: BootImageState): readonly BackendProblem[] {
  if (image.state !== 'unavailable') return []
  const message =
    `the boot image can't be cached in ${image.folder}: ${image.reason}; ` +
    'each sandbox takes three times as long to start'
  return [warning(message, 'Let this user write to its cache folder, or set XDG_CACHE_HOME to another one.')]
}

function* layerProblems(layers: JailLayers): Generator<BackendProblem> {
  const { permissionFlag, unshare, emptyRoot, shell, setpriv } = layers
  if (permissionFlag === undefined) {
    const message = 'this Node has no permission model, which the embedded sandbox requires'
    yield { severity: 'error', message, remedy: 'Use Node 20.20 or newer.' }
  }
  if (unshare === undefined) {
    yield warning(
      'namespaces are not available: only JavaScript isolates the sandbox from network and processes',
      'On Linux install util-linux and allow unprivileged user namespaces; elsewhere prefer the Docker backend.',
    )
  } else if (!emptyRoot) {
    yield warning(
      "no empty root directory is available: only Node's permission model isolates the sandbox from files",
      'Install util-linux 2.38 or newer and allow mounts in unprivileged user namespaces.',
    )
  }
  if (shell === undefined) {
    yield warning(
      'kernel limits are not available: the memory of Python is limited, but not what JavaScript allocates',
      'Prefer the Docker backend for code that you do not trust with the memory of this machine.',
    )
  }
  if (setpriv === undefined) {
    yield warning(
      'a sandbox in an endless loop outlives a worker that is killed',
      'On Linux install util-linux (setpriv); elsewhere end such a process by hand.',
    )
  }
}

function warning(message: string, remedy: string): BackendProblem {
  return { severity: 'warning', message, remedy }
}
