import type { V1ContainerStateTerminated, V1Pod } from '@kubernetes/client-node'
import { PtcError } from '../../../common/errors.js'
import type { SandboxEnd } from '../../backend.js'
import { readExit } from '../../resumable/index.js'
import { quoteUntrusted, sigkillExitCode } from '../../sandbox-end.js'

/** What a pod of a sandbox is to a worker. */
export type PodState =
  /** It is not there, or is being removed. */
  | { readonly type: 'gone'; readonly reason: string }
  /** `problem`: it can't start as it is; `SANDBOX_UNAVAILABLE` may become better by itself. */
  | { readonly type: 'starting'; readonly problem: StartProblem | undefined }
  /** Its first container waits for the files of the session. */
  | { readonly type: 'receiving'; readonly uid: string }
  | { readonly type: 'running'; readonly uid: string; readonly image: string; readonly node: string }
  | {
      readonly type: 'ended'
      readonly end: SandboxEnd
      readonly image: string
      readonly message: string
      readonly endedAt: Date | undefined
    }

/** Of a pod that is not there. */
export const goneState = { type: 'gone', reason: 'it was deleted' } as const satisfies PodState

export interface StartProblem {
  readonly code: 'SANDBOX_IMAGE_MISSING' | 'SANDBOX_UNAVAILABLE'
  readonly message: string
  readonly hint: string
  /** False: it can't become better without a change by people. */
  readonly isTransient: boolean
}

const imageReasons = ['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'ImageInspectError']
const startReasons = ['CreateContainerError', 'CreateContainerConfigError', 'RunContainerError', 'CrashLoopBackOff']

export function readPodState(pod: V1Pod | undefined): PodState {
  if (pod === undefined) return goneState
  const { status } = pod
  if (pod.metadata?.deletionTimestamp !== undefined) {
    // Evicted by a drain, preempted, on a lost node.
    const disruption = status?.conditions?.find(
      ({ type, status: value }) => type === 'DisruptionTarget' && value === 'True',
    )
    return { type: 'gone', reason: quoteUntrusted(disruption?.reason ?? 'it was deleted') }
  }
  const container = status?.containerStatuses?.[0]
  const terminated = container?.state?.terminated
  if (terminated || status?.phase === 'Failed' || status?.phase === 'Succeeded') return ended(pod, terminated)
  const uid = pod.metadata?.uid ?? ''
  if (status?.initContainerStatuses?.[0]?.state?.running) return { type: 'receiving', uid }
  if (container?.state?.running) {
    return { type: 'running', uid, image: container.imageID, node: pod.spec?.nodeName ?? '' }
  }
  return { type: 'starting', problem: startProblem(pod) }
}

function ended(pod: V1Pod, terminated: V1ContainerStateTerminated | undefined): PodState {
  const message = terminated?.message ?? ''
  const endedAt = terminated?.finishedAt ?? pod.metadata?.creationTimestamp
  const image = pod.status?.containerStatuses?.[0]?.imageID ?? ''
  // `Evicted`, `DeadlineExceeded`, `NodeShutdown`, `Preempting` and others: the cluster has ended the pod.
  const { reason, message: detail } = pod.status ?? {}
  if (reason !== undefined) {
    const diagnostics = `[the cluster ended the pod: ${reason}${detail === undefined ? '' : `, ${quoteUntrusted(detail)}`}]`
    const end: SandboxEnd = { reason: 'exited', exitCode: sigkillExitCode, diagnostics }
    return { type: 'ended', end, image, message, endedAt }
  }
  const code = terminated?.exitCode ?? sigkillExitCode
  if (terminated?.reason === 'OOMKilled' && code === sigkillExitCode) {
    const diagnostics = '[a process of the sandbox used up its memory and was killed]'
    const end: SandboxEnd = { reason: 'out_of_memory', exitCode: code, diagnostics }
    return { type: 'ended', end, image, message, endedAt }
  }
  const end: SandboxEnd = { ...readExit(message), exitCode: code }
  return { type: 'ended', end, image, message, endedAt }
}

function startProblem({ status, spec }: V1Pod): StartProblem | undefined {
  // A first container has its problem in a list of its own; meanwhile the other one waits for it.
  const { initContainerStatuses: [first] = [], containerStatuses: [container] = [] } = status ?? {}
  const { reason = '', message = '' } = first?.state?.waiting ?? container?.state?.waiting ?? {}
  const detail = message === '' ? reason : `${reason}: ${quoteUntrusted(message)}`
  if (imageReasons.includes(reason)) {
    const image = spec?.containers[0]?.image ?? ''
    return {
      code: 'SANDBOX_IMAGE_MISSING',
      message: `the cluster can't load the image ${image}: ${detail}`,
      hint: 'Push the image of `ptc image build` to a registry that the nodes reach, and set `sandbox.kubernetes.image`.',
      // The first failure may be one of the network.
      isTransient: reason === 'ErrImagePull',
    }
  }
  if (startReasons.includes(reason)) {
    const hint = 'A seccomp profile may be missing on the node, or the image may be for another processor.'
    const problem = `the cluster can't start the container of a sandbox: ${detail}`
    return { code: 'SANDBOX_UNAVAILABLE', message: problem, hint, isTransient: false }
  }
  const scheduled = status?.conditions?.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False')
  if (scheduled === undefined) return undefined
  return {
    code: 'SANDBOX_UNAVAILABLE',
    message: `no node takes the pod of a sandbox: ${quoteUntrusted(scheduled.message ?? scheduled.reason ?? '')}`,
    hint: 'Add nodes, or change `sandbox.kubernetes` (requests, nodeSelector, tolerations) or the limits of the run.',
    isTransient: true,
  }
}

export function startError({ code, message, hint }: StartProblem): PtcError {
  return new PtcError(code, message, { hint })
}
