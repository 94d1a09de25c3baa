import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Client } from '@temporalio/client'
import { messageOf, PtcError } from '../../common/errors.js'
import { defaultTaskQueue, type Role } from '../../common/names.js'
import type { BackendChoice } from '../../common/plan.js'
import { openStore } from '../../values/open-store.js'
import { payloadStorage } from '../../values/payload-storage.js'
import { Values } from '../../values/values.js'
import { resolveTemporal, startDevServer, type TemporalServer } from '../../worker/dev-server/index.js'
import { createPtcClient, type PtcClient } from '../client.js'
import { connectClient } from '../connect.js'
import { requireWorkers } from '../pollers.js'
import { unlessAborted } from '../../common/abort.js'
import { endMs, endWithin, type Interrupts, lostMs } from './interrupts.js'
import type { OwnWorker } from './own-worker.js'
import { configBeside, findConfig, type LoadedConfig, stateDirectory } from './project.js'
import { type ReadSettings, rememberedSettings, rememberSettings } from '../../worker/config/remembered-settings.js'
import { say, sayStep } from './terminal.js'

export interface PlaceOptions {
  /** A file; undefined: found as usual; false: what is wrong with it is of no interest here. */
  readonly config: string | undefined | false
  /** For a command that only reads: no code of a configuration is run, unless it is named. */
  readonly reads?: boolean
  /** For a worker that has to be started here. */
  readonly sandbox?: BackendChoice | undefined
  /**
   * What to do when no Temporal is running: start one with a worker for as long as the command runs, start one only to look
   * at its records, or give up.
   */
  readonly otherwise: 'work' | 'look' | 'fail'
  readonly interrupts: Interrupts
}

/** Where runs are: a Temporal server, reached, and perhaps a worker of our own. */
export interface Place extends AsyncDisposable {
  readonly server: TemporalServer
  readonly client: Client
  readonly ptc: PtcClient
  /** What runs keep outside of their histories. */
  readonly values: Values
  /** Settles when the server or the worker that we started is gone. */
  readonly lost: Promise<PtcError>
  /** Does it all end with this command? */
  readonly isOurs: boolean
  /** @throws PtcError WORKER_MISSING when a run that needs these roles would wait for ever */
  requireWorkers(roles: readonly Role[]): Promise<void>
}

/** @throws PtcError TEMPORAL_UNREACHABLE, and what loading a configuration and starting a worker throw */
export async function openPlace(options: PlaceOptions): Promise<Place> {
  const { interrupts, otherwise, sandbox } = options
  const state = stateDirectory()
  const config = await configOf(options)
  if (config !== undefined && options.config === undefined) await rememberSettings(state, config)
  const known = config ? { taskQueue: config.taskQueue, store: config.values.store } : await settingsOf(state, options)
  const found = await resolveTemporal({ stateDirectory: state, onProgress: () => undefined })
  const server = found ?? (await startServer(state, config, options))
  // Somebody looks on: a store that is away is not waited for.
  const values = new Values({ store: await openStore(known.store), patienceMs: 0 })
  let worker: OwnWorker | undefined
  let client: Client
  try {
    if (found === undefined && otherwise === 'work' && config !== undefined) {
      const { startOwnWorker } = await import('./own-worker.js')
      const starting = startOwnWorker({ config, server, sandbox, logFile: join(state, 'worker.log') })
      worker = await unlessAborted(interrupts.first, starting)
      if (worker.notice !== undefined) say(worker.notice)
    }
    const dataConverter = { externalStorage: payloadStorage(values.store) }
    client = await unlessAborted(interrupts.first, connectClient(server, dataConverter))
  } catch (thrown) {
    await worker?.close()
    await values.close()
    await server.close()
    throw thrown
  }
  const { taskQueue } = known
  const lost = worker === undefined ? server.lost : Promise.race([server.lost, worker.lost])
  let isLost = false
  void lost.then(() => (isLost = true))
  return {
    server,
    client,
    values,
    ptc: createPtcClient({ client, taskQueue, values }),
    lost,
    isOurs: server.origin === 'started',
    async requireWorkers(roles) {
      if (worker !== undefined) return
      // A worker without tools does not poll for them.
      const hasNoTools = config?.registry.names.length === 0
      await requireWorkers(client, taskQueue, hasNoTools ? roles.filter((role) => role !== 'tools') : roles)
    },
    async [Symbol.asyncDispose]() {
      // The client's connection ends with the process: on a closed one, a request that the SDK tries again throws where nobody can catch it.
      const end = async (): Promise<void> => {
        await worker?.close()
        await values.close()
        await server.close()
      }
      // Said, not thrown: it must not stand in front of why the command failed.
      const told = end().catch((thrown: unknown) => say(`ptc: ${messageOf(thrown)}`))
      await endWithin(isLost ? lostMs : endMs, told, interrupts.second)
    },
  }
}

async function configOf({ config, reads = false }: PlaceOptions): Promise<LoadedConfig | undefined> {
  if (config === false || (reads && config === undefined)) return undefined
  return findConfig(config)
}

/** What the configuration said when it was last loaded here; else what holds without one. */
async function settingsOf(state: string, { reads = false }: PlaceOptions): Promise<ReadSettings> {
  const remembered = reads ? await rememberedSettings(state) : undefined
  if (remembered !== undefined) return remembered
  const file = reads ? configBeside(state) : undefined
  if (file !== undefined) {
    const shown = shownPath(file)
    say(`ptc: a command that only reads does not run ${shown}: --config ${shown} uses its task queue and value store`)
  }
  return { taskQueue: defaultTaskQueue, store: { kind: 'local', directory: join(state, 'values') } }
}

/** A run can wait for its worker; the user should know that this one does. */
export async function warnWithoutWorkers(place: Place, roles: readonly Role[]): Promise<void> {
  try {
    await place.requireWorkers(roles)
  } catch (thrown) {
    if (!(PtcError.isInstance(thrown) && thrown.code === 'WORKER_MISSING')) throw thrown
    say(`ptc: ${thrown.message}: the run waits for one`)
    if (thrown.hint !== undefined) say(thrown.hint)
  }
}

async function startServer(
  state: string,
  config: LoadedConfig | undefined,
  { otherwise, interrupts }: PlaceOptions,
): Promise<TemporalServer> {
  const start = () => startDevServer({ stateDirectory: state, onProgress: quietUnlessSlow, signal: interrupts.first })
  if (otherwise === 'work' && config !== undefined) {
    sayStep(
      `no Temporal server is running: starting one, and a worker, for this command (state in ${shownPath(state)})`,
    )
    return start()
  }
  if (otherwise === 'look' && existsSync(join(state, 'temporal.db'))) {
    sayStep(`no Temporal server is running: starting one to read ${shownPath(state)}`)
    return start()
  }
  const more = otherwise === 'work' ? ', and there is no ptc.config.ts to start one for' : ''
  throw new PtcError('TEMPORAL_UNREACHABLE', `no Temporal server is running for this folder${more}`, {
    hint: 'Start one with `ptc dev`, or set TEMPORAL_ADDRESS to one that runs elsewhere.',
  })
}

/** A download or a build takes minutes: that is said; that a cached copy is used is not. */
function quietUnlessSlow(line: string): void {
  if (/\b(download|build|waiting)/i.test(line)) sayStep(line)
}

function shownPath(path: string): string {
  return relative(process.cwd(), path) || path
}
