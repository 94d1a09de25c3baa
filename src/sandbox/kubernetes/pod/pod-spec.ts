import type { V1Container, V1PodSpec } from '@kubernetes/client-node'
import { defined } from '../../../common/defined.js'
import type { Limits } from '../../../common/run/limits.js'
import { installFolder } from '../../../languages/index.js'
import type { SandboxSpec } from '../../backend.js'
import { maxOpenFiles } from '../../file-limits.js'
import { commonEnvironment, runnerStart } from '../../runner-start.js'
import type { KubernetesOptions } from '../options.js'

export const containerName = 'sandbox'

/** The last net: the cluster ends a pod after that, whatever happens. Its session is rebuilt then. */
const activeDeadlineSeconds = 24 * 60 * 60

/** Memory of the relay, besides that of the program. */
const relayBytes = 32 << 20
const privateFolderBytes = 64 << 20
const defaultMemoryRequest = 128 << 20

const relay = ['/usr/bin/python3', '-I', '-S', '-B', `${installFolder}/relay/relay.py`]

export interface PodSpecInput {
  readonly options: KubernetesOptions
  readonly userId: number
  readonly limits: Limits
}

/** The pod of a session. */
export function sessionPodSpec(
  input: PodSpecInput & Pick<SandboxSpec, 'language' | 'network'> & { readonly leaseSeconds: number },
): V1PodSpec {
  const { limits, leaseSeconds } = input
  const runner = runnerStart(input)
  // Kubernetes has no limits on processes and files of a container, so the relay sets those of its child.
  const childLimits = {
    processes: limits.processes,
    openFiles: maxOpenFiles,
    fileBytes: limits.tmpBytes,
    coreBytes: 0,
    lockedBytes: 65_536,
  }
  const command = [
    ...relay,
    '--lease',
    String(leaseSeconds),
    '--limits',
    JSON.stringify(childLimits),
    '--',
    ...runner.command,
  ]
  return hardenedPodSpec(input, {
    container: {
      command: command.map(literal),
      env: toEnv({ ...commonEnvironment, ...runner.environment }),
      stdin: true,
      // `true` would end the input of the relay with the first connection. Pods outlive workers.
      stdinOnce: false,
    },
    folders: runner.privateFolder === undefined ? {} : { [runner.privateFolder]: privateFolderBytes },
    pod: { activeDeadlineSeconds, dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.1'] } },
  })
}

/** The pod that finds out what a sandbox of this cluster could reach and do. It differs only in what it needs for that. */
export function probePodSpec(input: PodSpecInput, addresses: readonly (readonly [string, number])[]): V1PodSpec {
  return hardenedPodSpec(input, {
    container: {
      command: [...relay, '--probe', JSON.stringify({ addresses })].map(literal),
      env: [
        ...toEnv(commonEnvironment),
        { name: 'PTC_NODE_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      ],
    },
    folders: {},
    pod: { activeDeadlineSeconds: 60 },
  })
}

interface Parts {
  readonly container: Partial<V1Container>
  /** Folders in memory, with their sizes. */
  readonly folders: Readonly<Record<string, number>>
  readonly pod: Partial<V1PodSpec>
}

function hardenedPodSpec({ options, userId, limits }: PodSpecInput, { container, folders, pod }: Parts): V1PodSpec {
  const { image, runtimeClass, nodeSelector, tolerations, requests, seccompProfile } = options
  const memory = limits.memoryBytes + relayBytes
  const mounted = Object.entries({ '/tmp': limits.tmpBytes, ...folders })
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
    containers: [
      {
        name: containerName,
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
        volumeMounts: [
          ...mounted.map(([mountPath], index) => ({ name: `memory-${index}`, mountPath })),
          // The runtime would put a writable folder there, with a size of its own.
          { name: 'nothing', mountPath: '/dev/shm', readOnly: true },
        ],
        ...container,
      },
    ],
    volumes: [
      ...mounted.map(([, bytes], index) => memoryVolume(`memory-${index}`, bytes)),
      memoryVolume('nothing', 4096),
    ],
    ...defined({ runtimeClassName: runtimeClass, nodeSelector }),
    ...(tolerations && { tolerations: tolerations.map((toleration) => ({ ...toleration })) }),
    ...pod,
  }
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
