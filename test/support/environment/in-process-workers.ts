import type { Role } from '../../../src/common/names.js'
import type { PtcConfig } from '../../../src/config/define-config.js'
import { parseConfig } from '../../../src/config/parse-config.js'
import { type RunningWorker, startWorker } from '../../../src/worker/index.js'
import { sharedServer, uniqueName } from '../temporal/shared-server.js'
import { WorkerPool } from './worker-pool.js'
import './install-runtime.js'

/** Options of one worker in the process of the test. */
export interface InProcessWorkerOptions {
  /** Default: all. */
  readonly roles?: readonly Role[]
  /** Default: the tools of the environment. */
  readonly tools?: PtcConfig['tools']
  /** Default: the agents of the environment. */
  readonly agents?: PtcConfig['agents']
  /** Default: that of the environment. */
  readonly sandbox?: PtcConfig['sandbox']
  /** Default: that of the environment. */
  readonly dataFlow?: PtcConfig['dataFlow']
  /** Default: that of the environment. */
  readonly encryption?: PtcConfig['encryption'] | undefined
}

/** Workers in the process of the test. All have the same host id. */
export class InProcessWorkers extends WorkerPool<RunningWorker, InProcessWorkerOptions> {
  /** @param modelUrl address of the Messages API */
  constructor(
    config: Pick<PtcConfig, 'tools' | 'agents'> & Pick<InProcessWorkerOptions, 'encryption'>,
    modelUrl: string,
    address = sharedServer().address,
  ) {
    const { namespace } = sharedServer()
    const server = { address, namespace, connectionOptions: { address } }
    const modelApi = { baseURL: modelUrl, apiKey: 'test-key' }
    const common = { server, modelApi, hostId: uniqueName('test'), onProgress: () => undefined }
    super(({ tools, agents, encryption, sandbox, dataFlow, ...options }) => {
      const own = {
        tools: tools ?? config.tools,
        agents: agents ?? config.agents,
        encryption: encryption ?? config.encryption,
        ...(sandbox && { sandbox }),
        ...(dataFlow && { dataFlow }),
      }
      return startWorker({ ...common, ...options, config: parseConfig({ ...config, ...own }, 'test') })
    })
  }
}
