import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { V1PodSpec } from '@kubernetes/client-node'
import type { SandboxSpec } from '../../backend.js'
import type { ResumableConnection } from '../../resumable/index.js'
import type { IdleSandbox, IdleSandboxes } from '../../warm-pool.js'
import type { Cluster } from '../cluster/cluster.js'
import { claimMetadata, podLabels, type PodRef, podName } from '../pod/pod-identity.js'

/*
 * Pods of a warm pool. The API can't rename a pod, so a session gets one by a claim: an object of kind pod with the name
 * of the sandbox, which names the idle pod and never runs. The API gives a name to one object, be it a claim or a pod,
 * so a session still has at most one sandbox, and workers need no further right.
 */

interface IdlePod extends IdleSandbox, PodRef {
  readonly spec: V1PodSpec
  readonly connection: ResumableConnection
}

interface IdlePodsOptions {
  readonly cluster: () => Promise<Cluster>
  /** @throws PtcError SANDBOX_UNENFORCED and others */
  readonly assertIsolated: () => Promise<void>
  /** The sessions that get the pods, as far as it matters to a pod. */
  readonly sample: Pick<SandboxSpec, 'namespace' | 'language' | 'limits'>
  /** The specification of the pod of a session. */
  readonly podSpecOf: (spec: Omit<SandboxSpec, 'workflowId' | 'runId'>) => V1PodSpec
  /** The specification of the claim of a session. */
  readonly claimSpecOf: (spec: SandboxSpec) => V1PodSpec
  /** Waits until a pod runs, and connects to it. */
  readonly connect: (pod: string, signal: AbortSignal) => Promise<ResumableConnection>
}

const namePrefix = 'ptc-idle-'

/** The cluster ends a pod a day after its start. One of the pool has nearly all of this time when it gets a session. */
const maxIdleMs = 60 * 60_000

const connectMs = 150_000

export function idlePods({
  cluster,
  assertIsolated,
  sample,
  podSpecOf,
  claimSpecOf,
  connect,
}: IdlePodsOptions): IdleSandboxes<IdlePod> {
  return {
    async create() {
      await assertIsolated()
      const pods = await cluster()
      const name = `${namePrefix}${randomBytes(8).toString('hex')}`
      const spec = podSpecOf({ ...sample, session: name, epoch: 0 })
      const usableUntil = performance.now() + maxIdleMs
      const created = await pods.create({ name, labels: podLabels('idle', sample.namespace) }, spec)
      try {
        const connection = await connect(name, AbortSignal.timeout(connectMs))
        return { name, uid: created?.metadata?.uid ?? '', spec, connection, usableUntil }
      } catch (error) {
        await pods.delete(name).catch(() => undefined)
        throw error
      }
    },

    matcherOf(session) {
      const wanted = withoutUser(podSpecOf(session))
      return Promise.resolve(({ spec }) => isDeepStrictEqual(withoutUser(spec), wanted))
    },

    async claim(idle, session, signal) {
      const pods = await cluster()
      signal.throwIfAborted()
      const claimed = await pods.create(claimMetadata(session, idle), claimSpecOf(session))
      if (claimed === undefined) return 'exists'
      if (!idle.connection.isEnded) return 'claimed'
      await pods.delete(podName(session), claimed.metadata?.uid)
      return 'unusable'
    },

    async discard({ name, uid, connection }) {
      const remove = async () => (await cluster()).delete(name, uid)
      await Promise.all([connection.detach(), remove().catch(() => undefined)])
    },
  }
}

/** Each pod has a user of its own. */
function withoutUser({ securityContext, ...rest }: V1PodSpec): object {
  const { runAsUser: _user, runAsGroup: _group, ...others } = securityContext ?? {}
  return { ...rest, securityContext: others }
}
