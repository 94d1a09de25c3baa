import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { CoreV1Api, KubeConfig, V1ObjectMeta, V1Pod, V1PodSpec } from '@kubernetes/client-node'
import { raceWithTimeLimit, withAbortListener } from '../../../common/async/abort.js'
import { messageOf, PtcError } from '../../../common/errors.js'
import { clusterError, statusOf } from './cluster-error.js'

/** The package of the official client. It is large, and only this backend needs it. */
async function importClient() {
  try {
    return await import('@kubernetes/client-node')
  } catch (cause) {
    throw new PtcError(
      'SANDBOX_UNAVAILABLE',
      `Kubernetes needs the package @kubernetes/client-node: ${messageOf(cause)}`,
      {
        hint: 'Install it: npm install @kubernetes/client-node@1.4.0 ws@8',
        cause,
      },
    )
  }
}

type Client = Awaited<ReturnType<typeof importClient>>

export interface ClusterOptions {
  readonly namespace: string
  readonly context?: string | undefined
  readonly requestMs: number
}

/** The right to a verb on a resource, as RBAC names them. */
export interface Right {
  readonly verb: string
  readonly resource: string
  readonly subresource?: string
}

/** The pods of one namespace of a cluster. All requests have a timeout, and fail with a {@link PtcError}. */
export class Cluster {
  readonly namespace: string
  readonly config: KubeConfig
  readonly #client: Client
  readonly #core: CoreV1Api
  readonly #requestMs: number

  private constructor(client: Client, config: KubeConfig, { namespace, requestMs }: ClusterOptions) {
    this.namespace = namespace
    this.config = config
    this.#client = client
    this.#core = config.makeApiClient(client.CoreV1Api)
    this.#requestMs = requestMs
  }

  /** Reads the kubeconfig. @throws PtcError SANDBOX_UNAVAILABLE */
  static async load(options: ClusterOptions): Promise<Cluster> {
    const client = await importClient()
    return new Cluster(client, loadConfig(client, options.context), options)
  }

  /** The address of the API server, for people. */
  get server(): string {
    return this.config.getCurrentCluster()?.server ?? ''
  }

  /** The version of the API server. */
  async version(): Promise<string> {
    const api = this.config.makeApiClient(this.#client.VersionApi)
    return (await this.#call('ask the cluster for its version', () => api.getCode())).gitVersion
  }

  /** Whether the account has a right. @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_BACKEND_DOWN */
  async isAllowed({ verb, resource, subresource }: Right): Promise<boolean> {
    const api = this.config.makeApiClient(this.#client.AuthorizationV1Api)
    const resourceAttributes = { namespace: this.namespace, verb, resource, ...(subresource && { subresource }) }
    const review = await this.#call('ask for the rights of the account', () =>
      api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } }),
    )
    return review.status?.allowed === true
  }

  /**
   * Creates a pod. Returns undefined when another one has the name.
   *
   * @param dryRun the cluster checks all, and creates nothing
   */
  async create(metadata: V1ObjectMeta, spec: V1PodSpec, { dryRun = false } = {}): Promise<V1Pod | undefined> {
    const { namespace } = this
    const body = { apiVersion: 'v1', kind: 'Pod', metadata, spec }
    return this.#call(
      'create the pod of a sandbox',
      () => this.#core.createNamespacedPod({ namespace, body, ...(dryRun && { dryRun: 'All' }) }),
      409,
    )
  }

  async find(name: string): Promise<V1Pod | undefined> {
    const { namespace } = this
    return this.#call(`read pod ${name}`, () => this.#core.readNamespacedPod({ name, namespace }), 404)
  }

  async list(labelSelector: string): Promise<readonly V1Pod[]> {
    const { namespace } = this
    const found = await this.#call('list the pods of sandboxes', () =>
      this.#core.listNamespacedPod({ namespace, labelSelector }),
    )
    return found.items
  }

  /** Removes a pod; one of another id than `uid` is kept. Succeeds when there is none. */
  async delete(name: string, uid?: string): Promise<void> {
    const { namespace } = this
    const body = uid === undefined ? {} : { preconditions: { uid } }
    // 409: a pod with this name and another id.
    await this.#call(`remove pod ${name}`, () => this.#core.deleteNamespacedPod({ name, namespace, body }), 404, 409)
  }

  /**
   * Follows a pod until `isDone` returns something other than undefined for one of its states.
   *
   * @throws the reason of the signal; PtcError for a request that is refused
   */
  async watch<Result>(
    name: string,
    isDone: (pod: V1Pod | undefined) => Result | undefined,
    signal: AbortSignal,
  ): Promise<Result> {
    for (;;) {
      signal.throwIfAborted()
      // The server may end a watch at any time.
      const result = await this.#watchOnce(name, isDone, signal)
      if (result !== undefined) return result
    }
  }

  async #watchOnce<Result>(
    name: string,
    isDone: (pod: V1Pod | undefined) => Result | undefined,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    const watch = new this.#client.Watch(this.config)
    const path = `/api/v1/namespaces/${this.namespace}/pods`
    const stop = new AbortController()
    return withAbortListener(
      signal,
      () => stop.abort(),
      async () => {
        const result = await new Promise<Result | undefined>((resolve, reject) => {
          stop.signal.addEventListener('abort', () => resolve(undefined))
          const look = (pod: V1Pod | undefined): void => {
            try {
              const found = isDone(pod)
              if (found !== undefined) resolve(found)
            } catch (error) {
              reject(error)
            }
          }
          const onEvent = (type: string, pod: V1Pod): void => look(type === 'DELETED' ? undefined : pod)
          const onEnd = (thrown: unknown): void => {
            if (statusOf(thrown) === undefined) resolve(undefined)
            else reject(clusterError(thrown, `watch pod ${name}`))
          }
          watch
            .watch(path, { fieldSelector: `metadata.name=${name}` }, onEvent, onEnd)
            .then((request) => {
              stop.signal.addEventListener('abort', () => request.abort())
              // There is no event for a pod that is not there.
              return this.find(name)
            })
            .then((pod) => pod ?? look(undefined))
            .catch(reject)
        }).finally(() => stop.abort())
        signal.throwIfAborted()
        return result
      },
    )
  }

  async #call<Result>(action: string, request: () => Promise<Result>): Promise<Result>
  async #call<Result>(
    action: string,
    request: () => Promise<Result>,
    ...ignored: readonly number[]
  ): Promise<Result | undefined>
  async #call<Result>(
    action: string,
    request: () => Promise<Result>,
    ...ignored: readonly number[]
  ): Promise<Result | undefined> {
    try {
      return await raceWithTimeLimit(undefined, this.#requestMs, request)
    } catch (thrown) {
      if (ignored.includes(statusOf(thrown) ?? 0)) return undefined
      throw clusterError(thrown, action)
    }
  }
}

const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** As kubectl: KUBECONFIG, the file of the home folder, the account of the pod. Never a guess. */
function loadConfig(client: Client, context: string | undefined): KubeConfig {
  const config = new client.KubeConfig()
  const home = join(homedir(), '.kube', 'config')
  const listed = process.env['KUBECONFIG']
  const hint = 'Set KUBECONFIG, or run the worker in the cluster with a service account.'
  const missing = (listed ?? '').split(':').filter((path) => path !== '' && !existsSync(path))
  if (missing.length > 0)
    throw new PtcError('SANDBOX_UNAVAILABLE', `there is no kubeconfig ${missing.join(', ')}`, { hint })
  try {
    if (listed || existsSync(home)) config.loadFromDefault()
    else if (existsSync(`${accountFolder}/token`)) config.loadFromCluster()
    else throw new PtcError('SANDBOX_UNAVAILABLE', 'there is no kubeconfig', { hint })
  } catch (cause) {
    if (PtcError.isInstance(cause)) throw cause
    throw new PtcError('SANDBOX_UNAVAILABLE', `the kubeconfig can't be read: ${messageOf(cause)}`, { hint, cause })
  }
  if (context !== undefined) config.setCurrentContext(context)
  if (config.getContextObject(config.getCurrentContext()) === null || config.getCurrentCluster() === null)
    throw new PtcError(
      'SANDBOX_UNAVAILABLE',
      `the kubeconfig has no context ${config.getCurrentContext() || '(none)'}`,
      {
        hint: `It has: ${config
          .getContexts()
          .map(({ name }) => name)
          .join(', ')}.`,
      },
    )
  return config
}
