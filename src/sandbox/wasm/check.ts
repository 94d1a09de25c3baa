import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { BackendCheck, BackendProblem } from '../backend.js'
import { messageOf } from '../../common/errors.js'
import type { BootImageState } from './boot-image.js'
import { pyodideFolder } from './jail-command.js'
import type { JailLayers } from './jail-layers.js'

/** What runs and what stands around it, in one line and a list of what is missing. Never throws. */
export async function checkWasm(
  probe: () => Promise<JailLayers>,
  look: () => Promise<BootImageState>,
): Promise<BackendCheck> {
  try {
    const layers = await probe()
    const image = await look()
    const problems = [...missing(layers), ...lacking(image)]
    const usable = problems.every(({ severity }) => severity !== 'error')
    return { usable, summary: `${interpreterName()}; ${layerNames(layers).join(', ')}${imageName(image)}`, problems }
  } catch (thrown) {
    const remedy = 'Install the `pyodide` package again, or use the Docker backend.'
    return {
      usable: false,
      summary: 'the embedded sandbox does not start',
      problems: [{ severity: 'error', message: messageOf(thrown), remedy }],
    }
  }
}

/** For people: the interpreter and what it runs on. */
export function interpreterName(): string {
  const read = (name: string): unknown => JSON.parse(readFileSync(path.join(pyodideFolder(), name), 'utf8'))
  const { version } = read('package.json') as { readonly version: string }
  const { info } = read('pyodide-lock.json') as { readonly info: { readonly python: string } }
  return `Pyodide ${version} (Python ${info.python}) on Node ${process.versions.node}`
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

function imageName({ state, folder }: BootImageState): string {
  if (state === 'impossible') return ''
  return `; the image of a booted Python is ${state === 'kept' ? 'kept' : 'yet to be made, by the first start,'} in ${folder}`
}

function* lacking(image: BootImageState): Generator<BackendProblem> {
  if (image.state !== 'impossible') return
  yield {
    severity: 'warning',
    message: `the image of a booted Python can't be kept in ${image.folder}: ${image.reason}; each sandbox takes three times as long to start`,
    remedy: 'Let this user write to its cache folder, or name another one with XDG_CACHE_HOME.',
  }
}

function* missing(layers: JailLayers): Generator<BackendProblem> {
  if (layers.permissionFlag === undefined) {
    yield {
      severity: 'error',
      message: 'this Node has no permission model, without which the embedded sandbox does not run',
      remedy: 'Use Node 20.20 or newer.',
    }
  }
  if (layers.unshare === undefined) {
    yield {
      severity: 'warning',
      message: 'namespaces are not available: only JavaScript keeps the sandbox from the network and other processes',
      remedy:
        'On Linux install util-linux and allow unprivileged user namespaces; elsewhere prefer the Docker backend.',
    }
  } else if (!layers.emptyRoot) {
    yield {
      severity: 'warning',
      message: "no empty root directory could be made: only Node's permission model keeps the sandbox from files",
      remedy: 'Install util-linux 2.38 or newer and allow mounts in unprivileged user namespaces.',
    }
  }
  if (layers.shell === undefined) {
    yield {
      severity: 'warning',
      message: "the kernel limits no memory here: Python's own is capped, what JavaScript allocates is not",
      remedy: 'Prefer the Docker backend for code that you do not trust with the memory of this machine.',
    }
  }
  if (layers.setpriv === undefined) {
    yield {
      severity: 'warning',
      message: 'a sandbox in an endless loop outlives a worker that is killed',
      remedy: 'On Linux install util-linux (setpriv); elsewhere end such a process by hand.',
    }
  }
}
