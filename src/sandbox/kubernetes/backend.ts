import { Memo } from '../../common/async/memo.js'
import { failpoint } from '../../common/failpoint.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type { Limits } from '../../common/run/limits.js'
import type {
  BackendCheck,
  BackendProblem,
  SandboxBackend,
  SandboxConnection,
  SandboxEnd,
  SandboxId,
  SandboxSpec,
} from '../backend.js'
import { readImageSource } from '../docker/image/image-source.js'
import { openResumable, type ResumableConnection } from '../resumable/index.js'
import { runnerDirectory } from '../runner-directory.js'
import { exitedConnection } from '../exited-connection.js'
import { attachTo } from './cluster/attach.js'
import { Cluster, type Right } from './cluster/cluster.js'
import { awaitPod, probeIsolation } from './isolation.js'
import { defaultTimings, type KubernetesOptions, type KubernetesTimings } from './options.js'
import { isPodOf, labelKeys, managedBy, ownerLabel, podMetadata, podName, userId } from './pod/pod-identity.js'
import { sessionPodSpec } from './pod/pod-spec.js'
import { type PodState, readPodState } from './pod/pod-state.js'

/** What this backend does; deploy/sandbox-pods.yaml grants it. */
const rights: readonly Right[] = [
  ...['create', 'get', 'list', 'watch', 'delete'].map((verb) => ({ verb, resource: 'pods' })),
  { verb: 'get', resource: 'pods', subresource: 'attach' },
  // From Kubernetes 1.35 on.
  { verb: 'create', resource: 'pods', subresource: 'attach' },
]

/** An ended pod is kept for a worker that wants to know how it ended. */
const keepEndedMs = 10 * 60_000
const reapEveryMs = 10 * 60_000

export interface KubernetesBackendOptions {
  readonly options: KubernetesOptions
  /** The namespace of the sandbox ids. */
  readonly owner: string
  readonly limits: Limits
  readonly timings?: Partial<KubernetesTimings>
}

/** Sandboxes as hardened pods. They outlive the worker; any worker that reaches the cluster can attach. */
export function createKubernetesBackend({ options, owner, limits, timings }: KubernetesBackendOptions): SandboxBackend {
  const times = { ...defaultTimings, ...timings }
  const { namespace, context } = options
  const cluster = new Memo(() => Cluster.load({ namespace, context, requestMs: times.requestMs }))
  const runnerDigest = readImageSource(runnerDirectory).digest
  const isolation = new Memo(async () =>
    probeIsolation({ cluster: await cluster.get(), options, timings: times, owner, limits, runnerDigest }),
  )
  const connections = new Set<ResumableConnection>()
  const reaper = setInterval(() => void removeEnded().catch(() => undefined), reapEveryMs).unref()
  let closed = false

  function specOf(spec: Pick<SandboxSpec, 'language' | 'limits' | 'network'> & SandboxId) {
    return sessionPodSpec({ ...spec, options, userId: userId(spec), leaseSeconds: times.leaseSeconds })
  }

  /** @throws PtcError SANDBOX_UNENFORCED and others, before the first pod of a session */
  async function assertIsolated(): Promise<void> {
    const [problem] = (await isolation.get()).filter(({ severity }) => severity === 'error')
    if (problem) throw problemError(problem)
  }

  /** Creates the pod, or finds that of another worker. Replaces one that has ended. */
  async function findOrCreate(spec: SandboxSpec, signal: AbortSignal): Promise<{ readonly created: boolean }> {
    const pods = await cluster.get()
    const name = podName(spec)
    for (;;) {
      signal.throwIfAborted()
      if (await pods.create(podMetadata(spec), specOf(spec))) {
        failpoint('container.created')
        return { created: true }
      }
      const found = await pods.find(name)
      if (found === undefined) continue
      if (!isPodOf(found.metadata, spec))
        throw new PtcError('SANDBOX_NAME_TAKEN', `a pod that is not of durable-ptc has the name ${name}`)
      const { type } = readPodState(found)
      if (type !== 'gone' && type !== 'ended') return { created: false }
      if (type === 'ended') await pods.delete(name, found.metadata?.uid)
      // The name is free when the cluster has removed the pod.
      const until = AbortSignal.any([signal, AbortSignal.timeout(times.startMs)])
      await pods.watch(name, (pod) => pod?.metadata?.uid !== found.metadata?.uid || undefined, until)
    }
  }

  async function connect(name: string, signal: AbortSignal): Promise<SandboxConnection> {
    const pods = await cluster.get()
    const running = await awaitPod(
      pods,
      name,
      times.startMs,
      (state) => (state.type === 'running' || state.type === 'ended' ? state : undefined),
      signal,
    )
    if (running.type === 'ended') throw endedAtStart(name, running)
    failpoint('container.started')
    const connection = await openResumable(
      {
        description: `pod ${name} on node ${running.node}`,
        image: running.image,
        dial: (handlers, dialSignal) => attachTo(pods, name, handlers, dialSignal),
        findEnd: () => findEnd(pods, name),
        kill: () => pods.delete(name),
      },
      signal,
    )
    connections.add(connection)
    void connection.ended.then(() => connections.delete(connection))
    return connection
  }

  async function removeEnded(): Promise<void> {
    const pods = await cluster.get()
    const selector = `${labelKeys.managedBy}=${managedBy},${labelKeys.owner}=${ownerLabel(owner)}`
    for (const pod of await pods.list(selector)) {
      const state = readPodState(pod)
      const { name, uid } = pod.metadata ?? {}
      const isOld = state.type === 'ended' && Date.now() - (state.endedAt?.getTime() ?? 0) > keepEndedMs
      if (isOld && name !== undefined) await pods.delete(name, uid)
    }
  }

  function assertOpen(): void {
    if (closed) throw new PtcError('SANDBOX_UNAVAILABLE', 'the Kubernetes sandbox backend of this worker is closed')
  }

  return {
    name: 'kubernetes',
    network: true,
    hostId: `kubernetes.${namespace}`,

    async open(spec, signal) {
      assertOpen()
      signal.throwIfAborted()
      await assertIsolated()
      const { created } = await findOrCreate(spec, signal)
      const name = podName(spec)
      try {
        return await connect(name, signal)
      } catch (error) {
        // A pod that never started is removed now. Nobody else knows it.
        if (created) await (await cluster.get()).delete(name).catch(() => undefined)
        throw error
      }
    },

    async attach(id, signal) {
      assertOpen()
      const pods = await cluster.get()
      const name = podName(id)
      const pod = await pods.find(name)
      if (pod === undefined || !isPodOf(pod.metadata, id)) return undefined
      const state = readPodState(pod)
      if (state.type === 'gone') return undefined
      if (state.type !== 'ended') return connect(name, signal)
      const exited = exitedConnection(`pod ${name}, ended`, state.end)
      if (exited === undefined) await pods.delete(name, pod.metadata?.uid)
      return exited
    },

    async remove(id) {
      const pods = await cluster.get()
      const name = podName(id)
      const pod = await pods.find(name)
      if (pod !== undefined && isPodOf(pod.metadata, id)) await pods.delete(name, pod.metadata?.uid)
    },

    async check() {
      return checkCluster()
    },

    async close() {
      closed = true
      clearInterval(reaper)
      await Promise.all([...connections].map((connection) => connection.detach()))
    },
  }

  /** Never rejects. What comes later needs what comes before, so the first error ends it. */
  async function checkCluster(): Promise<BackendCheck> {
    let summary = 'Kubernetes is not available'
    try {
      const pods = await cluster.get()
      summary = `Kubernetes ${await pods.version()}, namespace ${namespace}, image ${options.image}`
      if (options.runtimeClass !== undefined) summary += `, runtime class ${options.runtimeClass}`
      const missing = await missingRights(pods)
      if (missing.length > 0) return { usable: false, summary, problems: missing }
      const sample = { namespace: owner, session: 'check', epoch: 0, language: 'python', limits }
      // Namespace, quota, policies and the runtime class.
      await pods.create({ name: podName(sample) }, specOf(sample), { dryRun: true })
      const problems = await isolation.get()
      void removeEnded().catch(() => undefined)
      return { usable: problems.every(({ severity }) => severity !== 'error'), summary, problems }
    } catch (thrown) {
      return { usable: false, summary, problems: [problemOf(thrown)] }
    }
  }

  async function missingRights(pods: Cluster): Promise<readonly BackendProblem[]> {
    const allowed = await Promise.all(rights.map((right) => pods.isAllowed(right)))
    return rights.flatMap(({ verb, resource, subresource }, index) => {
      if (allowed[index] === true) return []
      const what = subresource === undefined ? resource : `${resource}/${subresource}`
      return {
        severity: 'error',
        code: 'SANDBOX_UNAVAILABLE',
        message: `the account may not ${verb} ${what} in the namespace ${namespace}`,
        remedy: 'Apply deploy/sandbox-pods.yaml.',
      } as const
    })
  }
}

function problemOf(thrown: unknown): BackendProblem {
  const known = PtcError.isInstance(thrown) ? thrown : undefined
  return {
    severity: 'error',
    message: messageOf(thrown),
    remedy: known?.hint ?? '',
    ...(known && { code: known.code }),
    ...(known?.code === 'SANDBOX_IMAGE_MISSING' && { kind: 'image' as const }),
  }
}

function problemError({ code = 'SANDBOX_UNAVAILABLE', message, remedy }: BackendProblem): PtcError {
  return new PtcError(code, message, { hint: remedy })
}

function endedAtStart(name: string, { end }: Extract<PodState, { type: 'ended' }>): PtcError {
  const detail = end.diagnostics === '' ? `exit code ${end.exitCode}` : end.diagnostics
  return new PtcError('SANDBOX_UNAVAILABLE', `pod ${name} ended when it started: ${detail}`)
}

/**
 * What became of a pod whose connection broke. The API knows an end some seconds later than the connection; until then
 * new connections to the pod close at once.
 */
async function findEnd(cluster: Cluster, name: string): Promise<SandboxEnd | 'running'> {
  const state = readPodState(await cluster.find(name))
  if (state.type === 'ended') return state.end
  return state.type === 'gone' ? gone : 'running'
}

const gone: SandboxEnd = { reason: 'exited', exitCode: null, diagnostics: '' }
