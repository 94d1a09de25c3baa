import { defined } from '../../common/defined.js'
import type { DataConverter } from '@temporalio/common'
import { type NativeConnection, type NativeConnectionOptions, Runtime } from '@temporalio/worker'
import { noteWait } from '../../activities/activity-channel.js'
import { AuditLog, FileAuditSink } from '../../audit/index.js'
import { DisposableStack } from '../../common/async/disposable-stack.js'
import type { SearchAttributeLookup } from '../../activities/run/load-run-config.js'
import type { Role } from '../../common/names.js'
import type { Redact } from '../../common/text/redact.js'
import type { ModelProviders } from '../../models/providers.js'
import type { SandboxBackend } from '../../sandbox/backend.js'
import type { DockerBackend } from '../../sandbox/docker/index.js'
import { SessionHost } from '../../sandbox/session/session-host.js'
import { EntryCodec, StreamPublisher } from '../../stream/index.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { Values } from '../../values/values.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { openStore } from '../../values/open-store.js'
import type { AuditSettings } from '../../audit/option.js'
import { type Takeover, startTakeover } from '../takeover/takeover.js'
import { handleUncaughtErrors, type OnUnattributed } from '../uncaught-errors.js'
import { EventLoopWatchdog } from '../watchdog/event-loop-watchdog.js'
import { checkEncryptionKey } from './check-encryption-key.js'
import { createBackends } from './create-backends.js'
import { createProviders, type ProviderOptions } from './create-providers.js'
import { startKeepAlive } from './keep-alive.js'
import { reap } from './reaper.js'
import { repeat, type Repeated } from './repeat.js'
import { isMetricsExported } from '../runtime.js'
import { searchAttributeLookup } from './search-attributes.js'
import { isWorkflowRunning, sandboxOwner } from './sandbox-owner.js'
import { startQueueSampler } from './queue-sampler.js'
import { startRunSampler } from './run-sampler.js'
import { startSampler } from './sampler.js'
import { usageSampler } from './usage-sampler.js'

/** Settings of a worker process that are not part of the configuration. */
export interface ProcessSettings extends Pick<ProviderOptions, 'modelApi' | 'scriptedModelUrl'> {
  /** Size of the pool of idle containers without the setting `sandbox.warm`. Default 0. */
  readonly warm?: number
  /**
   * Log in which the watchdog thread reports a blocked event loop while it is blocked: the path of a file, or `false`
   * for none. Default: stderr.
   */
  readonly stallLog?: string | false | undefined
  /** Format of what the watchdog thread writes. Default: text. */
  readonly logFormat?: 'text' | 'json' | undefined
  /**
   * Gets an exception or a rejected promise that no code caught and that belongs to no activity. Default: Node's own
   * handling.
   */
  readonly onUnattributedError?: OnUnattributed | undefined
  /** Receives a line for the user about each slow step. */
  readonly onProgress: (line: string) => void
}

export interface ResourceOptions {
  readonly config: ResolvedConfig
  readonly registry: ToolRegistry
  readonly settings: ProcessSettings
  readonly roles: ReadonlySet<Role>
  readonly hostId: string
  readonly connection: NativeConnection
  /** Options for the connection of the watchdog thread. Undefined: there is no watchdog. */
  readonly connectionOptions: NativeConnectionOptions | undefined
  readonly namespace: string
  readonly taskQueue: string
  /** The worker has role `tools`, and there are tools. */
  readonly hasTools: boolean
  readonly dataConverter: DataConverter
}

/** The resources that the activities of a worker process share. */
export interface Resources {
  readonly values: Values
  readonly providers: ModelProviders
  /** Undefined without an audit log in the configuration. */
  readonly audit: AuditLog | undefined
  /** Undefined without a stream in the configuration. */
  readonly stream: StreamPublisher | undefined
  /** Only with role `sandbox`. */
  readonly host: SessionHost | undefined
  /** The chosen sandbox backend, for the user; undefined without role `sandbox`. */
  readonly sandboxNotice: string | undefined
  /** Only with role `tools`. */
  readonly watchdog: EventLoopWatchdog | undefined
  readonly takeover: Takeover | undefined
  /** The search attributes that runs may set on this server. Never rejects. */
  readonly lookUpSearchAttributes: SearchAttributeLookup
  /** The sandbox backends that may become unusable while the worker runs. */
  readonly externalBackends: readonly SandboxBackend[]
  /**
   * Starts to remove abandoned sandboxes, to keep the others alive, and to sample gauges. The caller must have created
   * the workers.
   */
  startMaintenance(): void
  /** Closes in reverse order. Idempotent. */
  close(): Promise<void>
}

/** The resources that a worker process itself uses. */
export type OpenedResources = Pick<Resources, 'sandboxNotice' | 'providers'>

/**
 * Opens the value store, the model providers, the sandbox backends, the watchdog and the takeover of a worker process.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING, CONFIG_INVALID, ENCRYPTION_KEY_UNAVAILABLE,
 * DECRYPTION_FAILED
 */
export async function openResources(options: ResourceOptions): Promise<Resources> {
  const { config, registry, settings, roles, hostId, connection, connectionOptions, namespace, taskQueue } = options
  const stack = new DisposableStack()
  const stopHandling = handleUncaughtErrors(settings.onUnattributedError)
  stack.defer(() => Promise.resolve(stopHandling()))
  try {
    // The key comes first: without it the worker can't complete any task.
    const encryptionKey = await config.encryption?.current()
    const owner = await sandboxOwner(connection, namespace)
    const values = await createValues(config)
    stack.defer(() => values.close())
    if (encryptionKey) await checkEncryptionKey(values.valueStore, encryptionKey)
    const audit = config.audit && openAuditLog(config.audit, namespace, config.redact)
    if (audit) stack.defer(() => audit.close())
    const stream = openStream(options)
    if (stream) {
      stack.defer(async () => config.stream?.close())
      stack.defer(() => stream.close())
    }
    const providers = createProviders({ ...settings, config })
    stack.defer(() => providers.close())
    const sandboxes = roles.has('sandbox') ? await openSandboxes(options, owner) : undefined
    if (sandboxes) stack.defer(() => sandboxes.host.shutdown())
    const { dataConverter, hasTools } = options
    const watchdog =
      hasTools && connectionOptions !== undefined
        ? new EventLoopWatchdog({
            namespace,
            connection,
            connectionOptions,
            dataConverter,
            encryptionKey,
            registry,
            log: settings.stallLog,
            logFormat: settings.logFormat,
          })
        : undefined
    if (watchdog) stack.defer(() => watchdog.close())
    const takeover = await startTakeover({ connection, namespace, group: { owner, taskQueue, hostId } })
    if (takeover) stack.defer(() => takeover.close())
    return {
      values,
      providers,
      audit,
      stream,
      host: sandboxes?.host,
      sandboxNotice: sandboxes?.notice,
      watchdog,
      takeover,
      lookUpSearchAttributes: searchAttributeLookup(connection, namespace, (line) =>
        Runtime.instance().logger.warn(line),
      ),
      externalBackends: sandboxes?.externalBackends ?? [],
      startMaintenance() {
        const loops = [...(sandboxes?.maintain() ?? []), ...startSamplers(options, sandboxes?.docker, owner)]
        for (const loop of loops) stack.defer(() => loop.close())
      },
      close: () => stack[Symbol.asyncDispose](),
    }
  } catch (thrown) {
    await stack[Symbol.asyncDispose]()
    throw thrown
  }
}

/** Opens the value store of a worker. The worker closes it. */
async function createValues({ values, encryption }: Pick<ResolvedConfig, 'values' | 'encryption'>): Promise<Values> {
  const { store, retryForMs } = values
  return new Values({ store: await openStore(store, encryption), ...defined({ retryForMs }), onWait: noteWait })
}

/** Opens the audit log. The worker closes it. */
function openAuditLog({ target, includesCode }: AuditSettings, namespace: string, redact: Redact): AuditLog {
  const sink = typeof target === 'string' ? new FileAuditSink(target) : target
  const onLost = (message: string): void => Runtime.instance().logger.error(message)
  return new AuditLog({ sink, namespace, includesCode, redact, onLost })
}

/** Interval at which a worker removes abandoned sandboxes. */
const reapMs = 60_000

/** Opens the live stream of a worker; undefined when the configuration has none. */
function openStream({
  config: { stream: sink },
  namespace,
  dataConverter,
}: ResourceOptions): StreamPublisher | undefined {
  if (sink === undefined) return undefined
  const codec = new EntryCodec(dataConverter.payloadCodecs)
  const onTrouble = (message: string): void => Runtime.instance().logger.warn(message)
  return new StreamPublisher({ sink, namespace, codec, onTrouble })
}

interface Sandboxes {
  readonly host: SessionHost
  readonly notice: string
  readonly externalBackends: readonly SandboxBackend[]
  /** Undefined without Docker. */
  readonly docker: DockerBackend | undefined
  /** Starts the maintenance. Without Docker there is none, because only its sandboxes outlive a worker. */
  maintain(): readonly Repeated[]
}

async function openSandboxes(options: ResourceOptions, owner: string): Promise<Sandboxes> {
  const { config, registry, settings, connection, namespace } = options
  const { warm = 0, onProgress } = settings
  const { backends, docker, notice } = await createBackends(config, { owner, warm, onProgress })
  const host = new SessionHost({ namespace: owner, backends, tools: registry.signatures() })
  const isRunning = (workflowId: string): Promise<boolean> => isWorkflowRunning(connection, namespace, workflowId)
  return {
    host,
    notice,
    docker,
    externalBackends: backends.filter(({ name }) => name !== 'wasm'),
    maintain: () => {
      if (!docker) return []
      return [
        repeat(reapMs, () => reap({ docker, host, owner, isRunning, onProgress })),
        startKeepAlive({ docker, owner, onProgress }),
      ]
    },
  }
}

function startSamplers(
  options: ResourceOptions,
  docker: DockerBackend | undefined,
  owner: string,
): readonly Repeated[] {
  if (!isMetricsExported()) return []
  return [
    ...(docker ? [startSampler('sandboxes', usageSampler({ docker, owner }))] : []),
    ...(options.roles.has('workflow') ? [startRunSampler(options), startQueueSampler(options)] : []),
  ]
}
