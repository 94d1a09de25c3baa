import type { Client } from '@temporalio/client'
import { createDataConverter } from '../../../src/client/index.js'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import type { StreamSink } from '../../../src/stream/index.js'
import type { PtcConfig } from '../../../src/config/define-config.js'
import type { StoreOption } from '../../../src/values/option.js'
import { noModel } from '../script.js'
import { connectClient, uniqueName } from '../temporal/shared-server.js'

export interface ServiceOptions {
  /** Default: none, for programs. */
  readonly script?: Script
  /** Size of the scripted model's context window, in tokens. */
  readonly contextTokens?: number
  /** The live stream, of the client and of workers in this process. Default: there is none. */
  readonly stream?: StreamSink
  /** Address of a private Temporal server; default: the shared one. */
  readonly address?: string
}

/** Services of every test environment. */
export interface Services {
  readonly client: Client
  readonly api: ScriptedMessagesApi
  readonly taskQueue: string
  readonly store: StoreOption | undefined
  readonly stream: StreamSink | undefined
}

/** @param store of the client; undefined: the client stores no payloads */
export async function startServices(
  { script = noModel, contextTokens, stream, address }: ServiceOptions,
  store: StoreOption | undefined,
  encryption: PtcConfig['encryption'],
): Promise<Services> {
  const dataConverter = store && (await createDataConverter(store, { encryption }))
  const [client, api] = await Promise.all([
    connectClient(dataConverter, address),
    startScriptedMessagesApi({ script, ...(contextTokens !== undefined && { contextTokens }) }),
  ])
  return { client, api, taskQueue: uniqueName('env'), store, stream }
}
