import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { PtcError } from '../../common/errors.js'
import { defaultTaskQueue, type Role } from '../../common/names.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import type { TemporalServer } from '../../dev-server/index.js'
import { fileStream } from '../../stream/index.js'
import { KeyRing } from '../../values/encryption/key-ring.js'
import { configFileNames, loadConfig } from '../../config/load-config.js'
import { printStatus } from '../process/stdio.js'
import { type CachedSettings, cacheSettings, readCachedSettings } from './settings-cache.js'

export type LoadedConfig = Awaited<ReturnType<typeof loadConfig>>

/** The project of the current folder: where its state is, and the settings that its commands share. */
export interface Project extends CachedSettings {
  /** The folder `.ptc`: database and log of the dev server, log of the worker, values, live stream. */
  readonly stateDirectory: string
  /** Undefined when there is no configuration, or when it was not loaded. */
  readonly config: LoadedConfig | undefined
}

export interface LoadedProject extends Project {
  readonly config: LoadedConfig
}

export interface ProjectOptions {
  /** File of the configuration; undefined: `ptc.config.ts` in this folder or one above. */
  readonly config?: string | undefined
  /**
   * Loading a configuration runs its code. `if_named` loads it only when `config` names it, and otherwise uses the
   * settings that the last load cached. `never` uses the defaults. Default: `if_present`.
   */
  readonly load?: 'if_present' | 'if_named' | 'never'
}

/** @throws PtcError CONFIG_INVALID …; CONFIG_NOT_FOUND only when `config` names the file */
export async function resolveProject({ config: file, load = 'if_present' }: ProjectOptions): Promise<Project> {
  const mayLoad = load === 'if_present' || (load === 'if_named' && file !== undefined)
  const config = mayLoad ? await loadConfigIfPresent(file) : undefined
  if (config !== undefined) return projectOf(config, file)
  const stateDirectory = findStateDirectory()
  const cached = load === 'if_named' ? await readCachedSettings(stateDirectory) : undefined
  if (cached !== undefined) return { stateDirectory, config, ...cached }
  const unloadedFile = load === 'if_named' ? findConfigFile(stateDirectory) : undefined
  if (unloadedFile !== undefined) {
    const path = displayPath(unloadedFile)
    printStatus(`ptc: ${path} was not loaded; pass --config ${path} to use its task queue and value store`)
  }
  const store = { kind: 'local', directory: join(stateDirectory, 'values') } as const
  return { stateDirectory, config, taskQueue: defaultTaskQueue, store }
}

/**
 * The project with its configuration.
 *
 * @throws PtcError CONFIG_NOT_FOUND, CONFIG_INVALID …
 */
export async function loadProject(file: string | undefined): Promise<LoadedProject> {
  return projectOf(await loadConfig(file), file)
}

async function projectOf(config: LoadedConfig, file: string | undefined): Promise<LoadedProject> {
  const stateDirectory = findStateDirectory()
  if (file === undefined) await cacheSettings(stateDirectory, config)
  const { taskQueue, values, encryption } = config
  return { stateDirectory, config, taskQueue, store: values.store, currentKeyId: encryption?.currentKeyId }
}

/**
 * Adds the live stream to a project. Without `stream` in the configuration, the stream is in `.ptc/stream` when the
 * command uses the dev server of the project, because all its workers and clients are on this machine. With any other
 * server, the stream needs the option.
 */
export function withStream<P extends Project>(project: P, { origin }: Pick<TemporalServer, 'origin'>): P {
  const { config, stateDirectory } = project
  if (config === undefined || config.stream !== undefined || origin === 'configured') return project
  return { ...project, config: { ...config, stream: fileStream({ folder: join(stateDirectory, 'stream') }) } }
}

/**
 * The encryption keys of a project; undefined when it has none. When the configuration was not loaded, every use of a
 * key fails: such a command can't read encrypted data, and sends nothing unencrypted.
 */
export function keysOf({ config, currentKeyId }: Pick<Project, 'config' | 'currentKeyId'>): KeyRing | undefined {
  if (config !== undefined || currentKeyId === undefined) return config?.encryption
  const notLoaded = () => Promise.reject(new Error('the configuration was not loaded; name it: --config'))
  return new KeyRing({ currentKeyId, key: notLoaded })
}

/**
 * The configuration; undefined when there is none.
 *
 * @throws PtcError CONFIG_INVALID …; CONFIG_NOT_FOUND only when `file` names it
 */
export async function loadConfigIfPresent(file: string | undefined): Promise<LoadedConfig | undefined> {
  try {
    return await loadConfig(file)
  } catch (thrown) {
    if (file === undefined && PtcError.isInstance(thrown) && thrown.code === 'CONFIG_NOT_FOUND') return undefined
    throw thrown
  }
}

const projectMarkers = ['.ptc', ...configFileNames]

/** The state folder of this project's dev server: `.ptc` next to the configuration, or else in this folder. */
export function findStateDirectory(folder = process.cwd()): string {
  for (let current = resolve(folder); ; current = dirname(current)) {
    if (projectMarkers.some((name) => existsSync(join(current, name)))) return join(current, '.ptc')
    if (dirname(current) === current) return join(resolve(folder), '.ptc')
  }
}

/** The configuration file next to the state folder; undefined when there is none. */
function findConfigFile(stateDirectory: string): string | undefined {
  return configFileNames.map((name) => join(dirname(stateDirectory), name)).find((path) => existsSync(path))
}

/** The path relative to the current folder. */
export function displayPath(path: string): string {
  return relative(process.cwd(), path) || path
}

/** The roles without work in this configuration: their workers poll no queue. */
export function idleRoles({ tools, sandbox }: LoadedConfig): readonly Role[] {
  return [
    ...(tools.known.names.length + tools.sources.length === 0 ? (['tools'] as const) : []),
    ...(sandbox.backend === hostedBackend ? (['sandbox'] as const) : []),
  ]
}
