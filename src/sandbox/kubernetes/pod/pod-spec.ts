import type { V1Container, V1PodSpec } from '@kubernetes/client-node'
import { defined } from '../../../common/defined.js'
import type { Limits } from '../../../common/run/limits.js'
import { installFolder } from '../../../languages/index.js'
import type { SandboxSpec } from '../../backend.js'
import { maxOpenFiles } from '../../file-limits.js'
import { commonEnvironment, runnerStart } from '../../runner-start.js'
import { filesRoot, foldersOf, type SandboxFiles } from '../../sandbox-files.js'
import type { KubernetesOptions, KubernetesTimings } from '../options.js'

/** `files` receives the files of a session before the runner starts, and ends. */
export const containerNames = { sandbox: 'sandbox', files: 'files' } as const

export type ContainerName = (typeof containerNames)[keyof typeof containerNames]

/** The last net: the cluster ends a pod after that, whatever happens. Its session is rebuilt then. */
const activeDeadlineSeconds = 24 * 60 * 60

/** Memory of the relay, besides that of the program. */
const relayBytes = 32 << 20
const privateFolderBytes = 64 << 20
const defaultMemoryRequest = 128 << 20

const python = ['/usr/bin/python3', '-I', '-S', '-B'] as const
const relay = [...python, `${installFolder}/relay/relay.py`]

/** Seconds without a sign of the worker that sends files. */
const filesLeaseSeconds = 60

/** A file takes whole pages of memory, and a folder one. */
const bytesBesidesFile = 8192

export interface PodSpecInput {
  readonly options: KubernetesOptions
  readonly userId: number
  readonly limits: Limits
}

type Leases = Pick<KubernetesTimings, 'leaseSeconds' | 'idleLeaseSeconds'>

/** The pod of a session. */
export function sessionPodSpec(
  input: PodSpecInput & Leases & Pick<SandboxSpec, 'language' | 'network' | 'files'>,
): V1PodSpec {
  const { command, environment, privateFolder } = runnerStart(input)
  return programPodSpec({
    ...input,
    command,
    environment: { ...commonEnvironment, ...environment },
    folders: privateFolder === undefined ? {} : { [privateFolder]: privateFolderBytes },
  })
}

/** A pod whose relay starts this program. */
export function programPodSpec(
  input: PodSpecInput &
    Leases & {
      readonly command: readonly string[]
      readonly environment: Readonly<Record<string, string>>
      readonly folders?: Readonly<Record<string, number>>
      readonly files?: SandboxFiles | undefined
    },
): V1PodSpec {
  const { command, environment, folders = {}, files } = input
  return hardenedPodSpec(input, {
    container: {
      command: relayed(input, command),
      env: toEnv(environment),
      ...attachable,
    },
    folders,
    files,
    pod: { activeDeadlineSeconds, dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] } },
  })
}

/** `stdinOnce: true` would end the input of the relay with the first connection. Pods outlive workers. */
const attachable = { stdin: true, stdinOnce: false } as const

/** The command of a relay for a program. */
function relayed(
  { limits, leaseSeconds, idleLeaseSeconds }: Pick<PodSpecInput, 'limits'> & Leases,
  command: readonly string[],
): string[] {
  // Kubernetes has no limits on processes and files of a container, so the relay sets those of its child.
  const childLimits = {
    processes: limits.processes,
    openFiles: maxOpenFiles,
    fileBytes: limits.tmpBytes,
    coreBytes: 0,
    lockedBytes: 65_536,
    messageQueueBytes: 0,
  }
  const leases = ['--lease', String(leaseSeconds), '--idle-lease', String(idleLeaseSeconds)]
  return [...relay, ...leases, '--limits', JSON.stringify(childLimits), '--', ...command].map(literal)
}

/** The pod that finds out what a sandbox of this cluster could reach and do. It differs only in what it needs for that. */
export function probePodSpec(input: PodSpecInput, addresses: readonly (readonly [string, number])[]): V1PodSpec {
  return hardenedPodSpec(input, {
    container: {
      command: [...relay, '--probe', JSON.stringify({ addresses })].map(literal),
      // An image that can't execute its programs says so in its log only.
      terminationMessagePolicy: 'FallbackToLogsOnError',
      env: [
        ...toEnv(commonEnvironment),
        { name: 'PTC_NODE_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      ],
    },
    folders: {},
    pod: { activeDeadlineSeconds: 60 },
  })
}

/**
 * The specification of a claim (pool/idle-pods.ts): an object with the name of a sandbox. Its gate is never removed, so
 * no node gets it.
 */
export function claimPodSpec(input: PodSpecInput): V1PodSpec {
  const least = { cpu: '1m', memory: '1Mi' }
  return hardenedPodSpec(input, {
    container: { resources: { limits: least, requests: least } },
    folders: {},
    pod: { schedulingGates: [{ name: 'durable-ptc/claim' }] },
  })
}

interface Parts {
  readonly container: Partial<V1Container>
  /** Folders in memory, with their sizes. */
  readonly folders: Readonly<Record<string, number>>
  readonly files?: SandboxFiles | undefined
  readonly pod: Partial<V1PodSpec>
}

function hardenedPodSpec(input: PodSpecInput, { container, folders, files, pod }: Parts): V1PodSpec {
  const { options, userId, limits } = input
  const { runtimeClass, nodeSelector, tolerations, seccompProfile } = options
  const mounted = Object.entries({ '/tmp': limits.tmpBytes, ...folders })
  const volumeMounts = [
    ...mounted.map(([mountPath], index) => ({ name: `memory-${index}`, mountPath })),
    // The runtime would put writable folders there, with sizes of their own.
    ...['/dev/shm', '/dev/mqueue'].map((mountPath) => ({ name: 'nothing', mountPath, readOnly: true })),
  ]
  const filesMount = { name: 'files', mountPath: filesRoot }
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 1,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    hostname: 'sandbox',
    os: { name: 'linux' },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      seccompProfile:
        seccompProfile === undefined
          ? { type: 'RuntimeDefault' }
          : { type: 'Localhost', localhostProfile: seccompProfile },
    },
    ...(files && {
      initContainers: [
        {
          ...hardenedContainer(input, containerNames.files),
          command: relayed({ limits, leaseSeconds: filesLeaseSeconds, idleLeaseSeconds: filesLeaseSeconds }, [
            ...python,
            `${installFolder}/relay/files.py`,
            filesRoot,
          ]),
          env: toEnv(commonEnvironment),
          ...attachable,
          volumeMounts: [...volumeMounts, filesMount],
        },
      ],
    }),
    containers: [
      {
        ...hardenedContainer(input, containerNames.sandbox),
        volumeMounts: files ? [...volumeMounts, { ...filesMount, readOnly: true }] : volumeMounts,
        ...container,
      },
    ],
    volumes: [
      ...mounted.map(([, bytes], index) => memoryVolume(`memory-${index}`, bytes)),
      memoryVolume('nothing', 4096),
      ...(files ? [memoryVolume('files', volumeBytes(files))] : []),
    ],
    ...defined({ runtimeClassName: runtimeClass, nodeSelector }),
    ...(tolerations && { tolerations: tolerations.map((toleration) => ({ ...toleration })) }),
    ...pod,
  }
}

function hardenedContainer(
  { options, limits }: PodSpecInput,
  name: ContainerName,
): Partial<V1Container> & { readonly name: ContainerName } {
  const { image, requests } = options
  const memory = limits.memoryBytes + relayBytes
  return {
    name,
    image,
    imagePullPolicy: 'IfNotPresent',
    workingDir: '/tmp',
    securityContext: {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      privileged: false,
      capabilities: { drop: ['ALL'] },
    },
    resources: {
      limits: { cpu: String(limits.cpus), memory: String(memory) },
      requests: {
        cpu: requests?.cpu ?? '100m',
        memory: requests?.memory ?? String(Math.min(memory, defaultMemoryRequest)),
      },
    },
  }
}

function volumeBytes({ entries }: SandboxFiles): number {
  const bytes = entries.reduce((total, { content }) => total + content.byteLength + bytesBesidesFile, 0)
  return bytes + foldersOf(entries).length * bytesBesidesFile
}

function memoryVolume(name: string, bytes: number) {
  return { name, emptyDir: { medium: 'Memory', sizeLimit: String(bytes) } }
}

function toEnv(variables: Readonly<Record<string, string>>) {
  return Object.entries(variables).map(([name, value]) => ({ name, value: literal(value) }))
}

/** Kubernetes replaces `$(NAME)`, and reads `$$` as `$`. */
function literal(text: string): string {
  return text.replaceAll('$', '$$$$')
}
