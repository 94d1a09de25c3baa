import { randomBytes } from 'node:crypto'
import { Memo } from '../../common/async/memo.js'
import { failpoint } from '../../common/failpoint.js'
import { PtcError } from '../../common/errors.js'
import { defaultLanguageName } from '../../common/names.js'
import type { Limits } from '../../common/run/limits.js'
import type { BackendProblem, SandboxBackend, SandboxEnd, SandboxId, SandboxSpec } from '../backend.js'
import { readImageSource } from '../docker/image/image-source.js'
import { ImageContents } from '../docker/image-contents.js'
import type { ServerProgram } from '../docker/server-container.js'
import { openResumable, type ResumableConnection } from '../resumable/index.js'
import { WarmPool } from '../warm-pool.js'
import { runnerDirectory } from '../runner-directory.js'
import { commonEnvironment } from '../runner-start.js'
import { exitedConnection } from '../exited-connection.js'
import { attachTo } from './cluster/attach.js'
import { checkCluster } from './check-cluster.js'
import { Cluster } from './cluster/cluster.js'
import { awaitPod, probeIsolation } from './isolation.js'
import { defaultTimings, type KubernetesOptions, type KubernetesTimings } from './options.js'
import {
  labelKeys,
  managedBy,
  ownerLabel,
  podLabels,
  podMetadata,
  podName,
  type PodRef,
  userId,
} from './pod/pod-identity.js'
import { claimPodSpec, containerNames, programPodSpec, sessionPodSpec } from './pod/pod-spec.js'
import { type PodState, readPodState } from './pod/pod-state.js'
import { idlePods } from './pool/idle-pods.js'
import { putFiles } from './put-files.js'
import { findSandbox, removeSandbox, stateOf } from './sandbox-pods.js'

/** An ended pod is kept for a worker that wants to know how it ended. */
const keepEndedMs = 10 * 60_000
const reapEveryMs = 10 * 60_000

interface FoundPod {
  readonly name: string
  /** Undefined: another worker has created it. */
  readonly createdUid?: string | undefined
}

export interface KubernetesBackendOptions {
  readonly options: KubernetesOptions
  /** The namespace of the sandbox ids. */
  readonly owner: string
  readonly limits: Limits
  /** Size of the warm pool. Default 0. */
  readonly warm?: number
  /** The language of the pods of the warm pool. Default: Python. */
  readonly language?: string
  readonly timings?: Partial<KubernetesTimings>
}

/** Sandboxes as hardened pods. They outlive the worker; any worker that reaches the cluster can attach. */
export function createKubernetesBackend({
  options,
  owner,
  limits,
  warm = 0,
  language = defaultLanguageName,
  timings,
}: KubernetesBackendOptions): SandboxBackend {
  const times = { ...defaultTimings, ...timings }
  const { namespace, context } = options
  const cluster = new Memo(() => Cluster.load({ namespace, context, requestMs: times.requestMs }))
  const runnerDigest = readImageSource(runnerDirectory).digest
  const probe = new Memo(async () =>
    probeIsolation({ cluster: await cluster.get(), options, timings: times, owner, limits, runnerDigest }),
  )
  const contents = new ImageContents({ resolve: async () => (await probe.get()).image }, startProgram)
  const connections = new Set<ResumableConnection>()
  const reaper = setInterval(() => void removeEnded().catch(() => undefined), reapEveryMs).unref()
  const sandboxes = idlePods({
    cluster: () => cluster.get(),
    assertIsolated,
    sample: { namespace: owner, language, limits },
    podSpecOf: specOf,
    claimSpecOf: (spec) => claimPodSpec({ options, limits: spec.limits, userId: userId(spec) }),
    connect: (name, signal) => connect(name, signal),
  })
  const pool = warm === 0 ? undefined : new WarmPool({ namespace: owner, size: warm, sandboxes })
  let closed = false

  function specOf(spec: Pick<SandboxSpec, 'language' | 'limits' | 'network' | 'files'> & SandboxId) {
    return sessionPodSpec({ ...spec, ...times, options, userId: userId(spec) })
  }

  /** @throws PtcError SANDBOX_UNENFORCED and others, before the first pod of a session */
  async function assertIsolated(): Promise<void> {
    const [problem] = (await probe.get()).problems.filter(({ severity }) => severity === 'error')
    if (problem) throw problemError(problem)
  }

  /** Creates the pod of a sandbox, or finds that of another worker. Replaces one that has ended. */
  async function findOrCreate(spec: SandboxSpec, signal: AbortSignal): Promise<FoundPod> {
    const pods = await cluster.get()
    const name = podName(spec)
    for (;;) {
      signal.throwIfAborted()
      const created = await pods.create(podMetadata(spec), specOf(spec))
      if (created !== undefined) {
        failpoint('container.created')
        return { name, createdUid: created.metadata?.uid }
      }
      const found = await findSandbox(pods, spec)
      if (found === undefined) continue
      if (found.type === 'foreign')
        throw new PtcError('SANDBOX_NAME_TAKEN', `a pod that is not of durable-ptc has the name ${name}`)
      const { type } = found.state
      // Of a worker that has died: part of the files may be there.
      const isUnfinished = spec.files !== undefined && type !== 'running'
      if (type !== 'gone' && type !== 'ended' && !isUnfinished) return { name: found.pod.name }
      await removeSandbox(pods, found)
      // The name is free when the cluster has removed the object.
      const until = AbortSignal.any([signal, AbortSignal.timeout(times.startMs)])
      await pods.watch(name, (pod) => pod?.metadata?.uid !== found.named.uid || undefined, until)
    }
  }

  async function connect(name: string, signal: AbortSignal): Promise<ResumableConnection> {
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
    const { uid, node, image } = running
    const connection = await openResumable(
      {
        description: `pod ${name} on node ${node}`,
        image,
        dial: (handlers, dialSignal) =>
          attachTo(pods, { pod: name, container: containerNames.sandbox }, handlers, dialSignal),
        findEnd: () => findEnd(pods, { name, uid }),
        kill: () => pods.delete(name, uid),
      },
      signal,
    )
    connections.add(connection)
    void connection.ended.then(() => connections.delete(connection))
    return connection
  }

  /** Executes a program in a pod of its own, which is removed with its connection. */
  async function startProgram({ command, args, limits: programLimits }: ServerProgram, signal: AbortSignal) {
    const pods = await cluster.get()
    const name = `ptc-program-${randomBytes(8).toString('hex')}`
    const user = userId({ namespace: owner, session: name, epoch: 0 })
    const spec = programPodSpec({
      ...times,
      options,
      userId: user,
      limits: programLimits,
      command: [command, ...args],
      environment: commonEnvironment,
    })
    await pods.create({ name, labels: podLabels('program', owner) }, spec)
    try {
      return await connect(name, signal)
    } catch (error) {
      await pods.delete(name).catch(() => undefined)
      throw error
    }
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
    files: true,
    network: true,
    hostId: `kubernetes.${namespace}`,

    async open(spec, signal) {
      assertOpen()
      signal.throwIfAborted()
      await assertIsolated()
      // An idle pod has no folder for files.
      const idle = spec.files ? undefined : await pool?.take(spec, signal)
      if (idle !== undefined) return idle
      // The first session does not wait for the pool; later sessions use it.
      pool?.fill()
      const { name, createdUid } = await findOrCreate(spec, signal)
      try {
        if (spec.files && createdUid !== undefined)
          await putFiles(await cluster.get(), name, spec.files, times.startMs, signal)
        return await connect(name, signal)
      } catch (error) {
        // A pod that never started is removed now. Nobody else knows it, unless another worker has connected.
        const isTaken = PtcError.isInstance(error) && error.code === 'SANDBOX_FENCED'
        if (createdUid !== undefined && !isTaken)
          await (await cluster.get()).delete(name, createdUid).catch(() => undefined)
        throw error
      }
    },

    async attach(id, signal) {
      assertOpen()
      const pods = await cluster.get()
      const found = await findSandbox(pods, id)
      if (found?.type !== 'sandbox' || found.state.type === 'gone') return undefined
      const { pod, state } = found
      // Only `open` has the files for it.
      if (state.type === 'receiving') return undefined
      if (state.type !== 'ended') return connect(pod.name, signal)
      const exited = exitedConnection(`pod ${pod.name}, ended`, state.end)
      if (exited === undefined) await removeSandbox(pods, found)
      return exited
    },

    async remove(id) {
      const pods = await cluster.get()
      const found = await findSandbox(pods, id)
      if (found?.type === 'sandbox') await removeSandbox(pods, found)
    },

    contentsOf: (_spec, signal) => contents.of(undefined, signal),

    async check() {
      const checked = await checkCluster({
        options,
        cluster: () => cluster.get(),
        // Namespace, quota, policies and the runtime class.
        async tryPod(pods) {
          const sample = { namespace: owner, session: 'check', epoch: 0, language, limits }
          await pods.create({ name: podName(sample) }, specOf(sample), { dryRun: true })
        },
        probe: async () => (await probe.get()).problems,
      })
      if (checked.usable) {
        void removeEnded().catch(() => undefined)
        pool?.fill()
      }
      return checked
    },

    async close() {
      closed = true
      clearInterval(reaper)
      await pool?.close()
      await Promise.all([...connections].map((connection) => connection.detach()))
    },
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
async function findEnd(cluster: Cluster, pod: PodRef): Promise<SandboxEnd | 'running'> {
  const state = await stateOf(cluster, pod)
  if (state.type === 'ended') return state.end
  if (state.type !== 'gone') return 'running'
  return { reason: 'exited', exitCode: null, diagnostics: `[the cluster removed the pod: ${state.reason}]` }
}
