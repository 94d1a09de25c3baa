import { join } from 'node:path'
import { messageOf } from '../../common/errors.js'
import type { BackendChoice } from '../../common/plan.js'
import { payloadStorage } from '../../values/payload-storage.js'
import { type Example, prepareDemoModel } from '../../worker/demo/index.js'
import { loadConfig, resolveTemporal, startDevServer } from '../../worker/index.js'
import { createValues } from '../../worker/values.js'
import { createPtcClient } from '../client.js'
import { connectClient } from '../connect.js'
import { Closers } from './closers.js'
import { unlessAborted } from '../../common/abort.js'
import { endMs, endWithin, type Interrupts, lostMs } from './interrupts.js'
import { startOwnWorker } from './own-worker.js'
import type { Place } from './place.js'
import { stateDirectory } from './project.js'
import { say, sayStep } from './terminal.js'

/** A queue of its own: another worker of this folder would not have the example's tools. */
const taskQueue = 'durable-ptc-demo'

export interface DemoPlace extends Place {
  /** Is it the script that plays the model? */
  readonly scripted: boolean
}

/** Brings up what the demo runs on: a server with its UI, a model or its script, and a worker. */
export async function openDemoPlace(
  example: Example,
  sandbox: BackendChoice | undefined,
  interrupts: Interrupts,
): Promise<DemoPlace> {
  const started = new Closers()
  try {
    return await start(example, sandbox, interrupts, started)
  } catch (thrown) {
    await started[Symbol.asyncDispose]()
    throw thrown
  }
}

async function start(
  example: Example,
  sandbox: BackendChoice | undefined,
  { first, second }: Interrupts,
  started: Closers,
): Promise<DemoPlace> {
  const state = stateDirectory()
  const config = { ...(await loadConfig(example.configFile)), taskQueue }
  const server =
    (await resolveTemporal({ stateDirectory: state, onProgress: sayStep })) ??
    (await startDevServer({ stateDirectory: state, ui: true, onProgress: sayStep, signal: first }))
  started.add(() => server.close())
  const model = await prepareDemoModel(example.script)
  started.add(() => model.close())
  say(model.notice)
  const starting = startOwnWorker({ config, server, sandbox, logFile: join(state, 'worker.log') })
  const worker = await unlessAborted(first, starting)
  started.add(() => worker.close())
  if (worker.notice !== undefined) say(worker.notice)
  const values = await createValues(config)
  started.add(() => values.close())
  const client = await connectClient(server, { externalStorage: payloadStorage(values.store) })
  started.add(() => client.connection.close())
  const lost = Promise.race([server.lost, worker.lost])
  let isLost = false
  void lost.then(() => (isLost = true))
  return {
    scripted: model.scripted,
    server,
    client,
    values,
    ptc: createPtcClient({ client, taskQueue, values }),
    lost,
    isOurs: server.origin === 'started',
    requireWorkers: () => Promise.resolve(),
    async [Symbol.asyncDispose]() {
      const told = started[Symbol.asyncDispose]().catch((thrown: unknown) => say(`ptc: ${messageOf(thrown)}`))
      await endWithin(isLost ? lostMs : endMs, told, second)
    },
  }
}
