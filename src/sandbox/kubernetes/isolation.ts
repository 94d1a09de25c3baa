import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Limits } from '../../common/run/limits.js'
import { PtcError } from '../../common/errors.js'
import type { BackendProblem } from '../backend.js'
import { quoteUntrusted } from '../sandbox-end.js'
import type { Cluster } from './cluster/cluster.js'
import type { KubernetesOptions, KubernetesTimings } from './options.js'
import { podLabels, userId } from './pod/pod-identity.js'
import { probePodSpec } from './pod/pod-spec.js'
import { readPodState, startError, type PodState } from './pod/pod-state.js'

/** The relay of the image speaks this version of the packets. */
const relayVersion = 1

const reportSchema = z.object({
  relay: z.int(),
  runner: z.string(),
  reached: z.array(z.string()),
  status: z.object({
    Uid: z.string(),
    CapEff: z.string(),
    CapBnd: z.string(),
    NoNewPrivs: z.string(),
    Seccomp: z.string(),
  }),
  memoryBytes: z.number().nullable(),
  canLimitProcesses: z.boolean(),
  canWriteRoot: z.boolean(),
  hasToken: z.boolean(),
})

export type IsolationReport = z.infer<typeof reportSchema>

export interface ProbeOptions {
  readonly cluster: Cluster
  readonly options: KubernetesOptions
  readonly timings: KubernetesTimings
  readonly owner: string
  readonly limits: Limits
  /** The digest of the runners of this installation. */
  readonly runnerDigest: string
}

export interface ProbeResult {
  readonly problems: readonly BackendProblem[]
  /** The id of the image on the node of the probe. */
  readonly image: string
}

/** Pods of probes that were left by a killed worker end by themselves. */
export const probeNamePrefix = 'ptc-probe-'

/**
 * Starts a pod like that of a session, with a program that tries to reach the network and looks at its own limits.
 *
 * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE, SANDBOX_UNENFORCED, SANDBOX_BACKEND_DOWN
 */
export async function probeIsolation(probe: ProbeOptions): Promise<ProbeResult> {
  const { cluster, options, timings, owner, limits } = probe
  const name = `${probeNamePrefix}${randomBytes(6).toString('hex')}`
  const spec = probePodSpec({ options, limits, userId: userId({ namespace: owner, session: name, epoch: 0 }) }, [])
  await cluster.create({ name, labels: podLabels('probe', owner) }, spec)
  try {
    const ended = await awaitPod(cluster, name, timings.startMs, (state) =>
      state.type === 'ended' ? state : undefined,
    )
    const parsed = reportSchema.safeParse(parseJson(ended.message))
    if (parsed.success) return { problems: problemsOf(parsed.data, probe), image: ended.image }
    throw imageError(options.image, ended)
  } finally {
    await cluster.delete(name).catch(() => undefined)
  }
}

function imageError(image: string, { end, message }: Extract<PodState, { type: 'ended' }>): PtcError {
  if (/exec format error/i.test(message))
    return new PtcError('SANDBOX_IMAGE_MISSING', `the image ${image} is for another processor than that of the node`, {
      hint: 'Build it on a machine with such a processor, or choose nodes with `sandbox.kubernetes.nodeSelector`.',
    })
  const said = quoteUntrusted(message) || end.diagnostics || `exit code ${end.exitCode}`
  return new PtcError('SANDBOX_IMAGE_MISSING', `the image ${image} has no relay for Kubernetes`, {
    hint: `Push the image of \`ptc image build\` of this version. The pod said: ${said}`,
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Waits for a state of a pod. A pod that can't start, or is gone, is an error, at once where it can't become better.
 *
 * @throws PtcError SANDBOX_IMAGE_MISSING, SANDBOX_UNAVAILABLE
 */
export async function awaitPod<Result>(
  cluster: Cluster,
  name: string,
  startMs: number,
  isDone: (state: PodState) => Result | undefined,
  signal?: AbortSignal,
): Promise<Result> {
  let last: PodState | undefined
  const timeout = AbortSignal.timeout(startMs)
  try {
    return await cluster.watch(
      name,
      (pod) => {
        last = readPodState(pod)
        const result = isDone(last)
        if (result !== undefined) return result
        if (last.type === 'gone') throw new PtcError('SANDBOX_UNAVAILABLE', `pod ${name} was removed while it started`)
        if (last.type === 'starting' && last.problem?.isTransient === false) throw startError(last.problem)
        return undefined
      },
      signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    )
  } catch (error) {
    if (!timeout.aborted || signal?.aborted) throw error
    if (last?.type === 'starting' && last.problem) throw startError(last.problem)
    throw new PtcError('SANDBOX_UNAVAILABLE', `pod ${name} did not start within ${startMs / 1_000} s`, {
      hint: `See the events of the pod: kubectl --namespace ${cluster.namespace} get events.`,
      cause: error,
    })
  }
}

/** Exported for its test. */
export function problemsOf(
  report: IsolationReport,
  { options, limits, runnerDigest }: Pick<ProbeOptions, 'options' | 'limits' | 'runnerDigest'>,
): readonly BackendProblem[] {
  const { status, memoryBytes } = report
  // A kernel of its own has its own way to tell these; some runtimes tell nothing.
  const isOwnKernel = options.runtimeClass !== undefined
  const problems: BackendProblem[] = []
  const add = (isWarning: boolean, message: string, remedy: string): void => {
    problems.push({ severity: isWarning ? 'warning' : 'error', code: 'SANDBOX_UNENFORCED', message, remedy })
  }
  if (report.relay !== relayVersion || report.runner !== runnerDigest)
    problems.push({
      severity: 'error',
      kind: 'image',
      code: 'SANDBOX_IMAGE_MISSING',
      message: `the image ${options.image} has the runners of another version`,
      remedy: 'Push the image of `ptc image build` of this version.',
    })
  if (report.reached.length > 0)
    add(
      false,
      `code in a pod of the namespace ${options.namespace} reaches ${report.reached.join(', ')}`,
      'Apply the NetworkPolicy of deploy/sandbox-pods.yaml, on a cluster whose network plugin enforces it.',
    )
  if (report.hasToken) add(false, 'a pod has the token of a service account', 'A webhook of the cluster may add it.')
  if (report.canWriteRoot)
    add(false, 'the root folder of a pod can be written', 'The runtime ignores `readOnlyRootFilesystem`.')
  if (/^0\b|\b0$/.test(status.Uid.split(' ')[0] ?? '0'))
    add(false, 'code runs as root', 'The runtime ignores `runAsUser`.')
  const hasCapabilities = [status.CapEff, status.CapBnd].some((mask) => mask !== '' && !/^0+$/.test(mask))
  if (hasCapabilities) add(false, 'code has capabilities', 'The runtime ignores `capabilities`.')
  if (status.NoNewPrivs !== '1')
    add(isOwnKernel, 'nothing shows that code can not get new privileges', 'The runtime may ignore it.')
  if (status.Seccomp !== '2') add(isOwnKernel, 'nothing shows that seccomp is on', 'The nodes may lack seccomp.')
  if (memoryBytes === null || memoryBytes > 2 * limits.memoryBytes + (1 << 30))
    add(isOwnKernel, 'nothing shows that memory is limited', 'The nodes may lack the memory controller of cgroups.')
  if (!report.canLimitProcesses)
    add(
      isOwnKernel,
      'the number of processes of a sandbox is not limited',
      'Set `podPidsLimit` in the configuration of the kubelets; with a runtime class, this is then only a warning.',
    )
  return problems
}
