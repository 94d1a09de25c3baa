import type { Context } from '@temporalio/activity'
import type { DataConverter } from '@temporalio/common'
import {
  type ActivityInterceptorsFactory,
  type NativeConnection,
  type NativeConnectionOptions,
  Runtime,
  Worker,
  type WorkerOptions,
  type WorkerPlugin,
} from '@temporalio/worker'
import { DisposableStack } from '../../common/async/disposable-stack.js'
import { PtcError } from '../../common/errors.js'
import { hostQueue, type Role } from '../../common/names.js'
import type { BackendName } from '../../common/run/run-config.js'
import { checkHealth, type WorkerHealth } from '../health/health.js'
import { metrics } from '../../common/telemetry/metrics.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { openResources, type ProcessSettings, type Resources } from '../resources/open-resources.js'
import { logAttributes } from './log-attributes.js'
import { readableErrors } from './readable-errors.js'
import { endNow, runTogether } from './run-together.js'
import { type Activities, engineActivities, type EngineQueue, engineQueues, servesTools } from './task-queues.js'
import {
  addEngine,
  assertCanAddEngine,
  type EngineOptions,
  hasOwnWork,
  queueOptions,
  roleWorkerOptions,
} from './worker-options.js'

interface WorkerGroupOptions {
  readonly config: ResolvedConfig
  readonly roles: ReadonlySet<Role>
  readonly hostId: string
  readonly settings: ProcessSettings
  readonly connection: NativeConnection
  /** Options for the connection of the watchdog thread. Undefined: there is no watchdog. */
  readonly connectionOptions: NativeConnectionOptions | undefined
  readonly dataConverter: DataConverter
  /** Plugins for the other workers of the process. */
  readonly plugins: readonly WorkerPlugin[]
}

type RoleWorker = ReturnType<typeof queueOptions> & {
  readonly taskQueue: string
  readonly activities: Activities
}

/**
 * The workers of one process for one task queue of the user: the user's own, and one for each other task queue of
 * durable-ptc. They share resources. The resources are open when the group exists, and are closed when the user's
 * worker has ended.
 */
export class WorkerGroup {
  /** The options of the user's worker. */
  readonly workerOptions: WorkerOptions
  readonly resources: Resources
  readonly #options: WorkerGroupOptions
  readonly #stack: DisposableStack
  readonly #roleWorkers: readonly RoleWorker[]
  readonly #roleWorkerOptions: Omit<WorkerOptions, 'taskQueue'>
  #isRunning = false
  /** Empty until all workers have been created. */
  #workers: readonly Worker[] = []

  /**
   * @param requested the options of the user's worker
   * @throws PtcError CONFIG_INVALID, TOOL_SOURCE_FAILED, SKILL_INVALID, SANDBOX_UNAVAILABLE, SANDBOX_IMAGE_MISSING,
   *   ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED
   */
  static async open(requested: WorkerOptions, options: WorkerGroupOptions): Promise<WorkerGroup> {
    const { namespace = 'default', taskQueue } = requested
    const { config, roles, hostId } = options
    const stack = new DisposableStack()
    try {
      const tools = await config.tools.open(Runtime.instance().logger, { callsTools: roles.has('tools') })
      stack.defer(() => tools.close())
      const { registry } = tools
      const skills = roles.has('workflow') ? await config.skills.open(tools.agents, Runtime.instance().logger) : []
      assertCanAddEngine(requested, registry)
      const hasTools = servesTools(roles, registry)
      metrics.use(Runtime.instance().metricMeter)
      const resources = await openResources({ ...options, registry, namespace, taskQueue, hasTools })
      stack.defer(() => resources.close())
      const hostQueueOf = (backend: BackendName): string =>
        hostQueue(taskQueue, resources.host?.hostIdOf(backend) ?? hostId, backend)
      const queues = engineQueues({ taskQueue, roles, hostQueueOf, registry, backends: resources.host?.backends ?? [] })
      if (queues.length === 0 && !hasOwnWork(requested)) {
        throw new PtcError('CONFIG_INVALID', 'this worker has nothing to do', {
          hint: 'Role tools needs a tool in the configuration, and role sandbox a sandbox other than anthropic.',
        })
      }
      const activities = engineActivities({ config, tools, skills, namespace, hostQueueOf, hasTools, resources })
      return new WorkerGroup(requested, options, stack, resources, queues, activities)
    } catch (thrown) {
      await stack[Symbol.asyncDispose]()
      throw thrown
    }
  }

  private constructor(
    requested: WorkerOptions,
    options: WorkerGroupOptions,
    stack: DisposableStack,
    resources: Resources,
    queues: readonly EngineQueue[],
    activities: Readonly<Record<EngineQueue['kind'], Activities>>,
  ) {
    const { config, dataConverter } = options
    const engine: EngineOptions = { config, dataConverter, interceptors: interceptorsOf(requested, resources) }
    const own = hasOwnWork(requested) ? queues.find(({ kind }) => kind === 'main') : queues[0]
    this.#options = options
    this.#stack = stack
    this.resources = resources
    this.workerOptions = addEngine(requested, engine, own && { ...own, activities: activities[own.kind] })
    this.#roleWorkerOptions = roleWorkerOptions(requested, engine)
    this.#roleWorkers = queues
      .filter((queue) => queue !== own)
      .map((queue) => ({ taskQueue: queue.name, activities: activities[queue.kind], ...queueOptions(queue, config) }))
  }

  /** The task queues for which this group creates workers. */
  get roleQueues(): readonly string[] {
    return this.#roleWorkers.map(({ taskQueue }) => taskQueue)
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /**
   * Runs the workers until the user's worker has ended, or one has failed.
   *
   * @param run runs the user's worker
   * @throws the failure of a worker
   */
  async run(worker: Worker, run: () => Promise<void>): Promise<void> {
    if (this.#isRunning) throw new PtcError('CONFIG_INVALID', 'two workers of one plugin poll the same task queue')
    this.#isRunning = true
    try {
      // Starts at once: a worker that does not run yet can't be shut down.
      const user = { worker, ended: run() }
      const others = await this.#createRoleWorkers().catch((thrown: unknown) => endNow(user, thrown))
      this.resources.startMaintenance()
      this.#workers = [worker, ...others]
      await runTogether(user, others)
    } finally {
      await this.close()
    }
  }

  /** Never rejects. */
  health(): Promise<WorkerHealth> {
    const { values, externalBackends: backends } = this.resources
    return checkHealth({ workers: this.#workers, connection: this.#options.connection, backends, values })
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.#stack[Symbol.asyncDispose]()
  }

  #createRoleWorkers(): Promise<Worker[]> {
    const { connection, plugins } = this.#options
    return Promise.all(
      this.#roleWorkers.map((each) =>
        Worker.create({ ...this.#roleWorkerOptions, ...each, connection, plugins: [...plugins] }),
      ),
    )
  }
}

/** The watchdog also watches the user's own activities, because each of them may block the event loop. */
function interceptorsOf({ activities = {} }: WorkerOptions, resources: Resources): ActivityInterceptorsFactory[] {
  const { takeover, watchdog } = resources
  return [
    readableErrors,
    ...(takeover
      ? [
          (context: Context) =>
            Object.hasOwn(activities, context.info.activityType) ? {} : takeover.interceptors(context),
        ]
      : []),
    ...(watchdog ? [watchdog.interceptors] : []),
    logAttributes,
  ]
}
