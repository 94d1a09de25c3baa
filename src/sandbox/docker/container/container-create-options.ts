import { maxFiles, maxOpenFiles } from '../../file-limits.js'
import { defined } from '../../../common/defined.js'
import type { Limits } from '../../../common/run/limits.js'
import { installFolder } from '../../../languages/index.js'
import { commonEnvironment, runnerStart } from '../../runner-start.js'
import { filesRoot } from '../../sandbox-files.js'

interface ContainerCreateInput {
  /** The image id. It is not a tag, because a tag could be moved between check and use. */
  readonly image: string
  readonly userId: number
  readonly labels: Readonly<Record<string, string>>
  /** Name of the language of the runner. */
  readonly language: string
  readonly limits: Limits
  /** Seconds until the container ends by itself, after a worker has last touched {@link keepAlivePath}. */
  readonly orphanSeconds?: number
  /** The same time for a container in which code has stopped the supervisor, which is possible under gVisor. */
  readonly stoppedOrphanSeconds?: number
  /** The content of the seccomp profile, as JSON text. */
  readonly seccomp: string
  /** An OCI runtime other than the daemon's default, such as `runsc`. */
  readonly runtime?: string | undefined
  /** Whether the container gets files, by {@link filesMount}. */
  readonly hasFiles?: boolean
  /** Whether the runner carries connections of programs to the worker. */
  readonly hasNetwork?: boolean
}

/** An hour, and the time between two calls of `DockerBackend.keepAlive`. */
export const defaultOrphanSeconds = 75 * 60

/**
 * A week. Under gVisor, this time also passes while a checkpoint is parked. A session that was parked for longer is
 * rebuilt.
 */
export const defaultStoppedOrphanSeconds = 7 * 24 * 60 * 60

/** Only root may write in this folder, and no process of a sandbox is root: code can't touch the file. */
export const keepAliveFolder = '/run/durable-ptc'

/** The supervisor (runner/image/supervisor.c) watches the modification time of this file. */
export const keepAlivePath = `${keepAliveFolder}/keep-alive`

const privateFolderBytes = 64 << 20

/**
 * This list replaces the list of the daemon, so it contains all paths that current daemons mask, and further paths that
 * programs never read. docs/security.md lists the readable paths.
 */
const maskedPaths = [
  '/proc/acpi',
  '/proc/asound',
  '/proc/diskstats',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/key-users',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/locks',
  '/proc/mdstat',
  '/proc/modules',
  '/proc/partitions',
  '/proc/pressure',
  '/proc/sched_debug',
  '/proc/schedstat',
  '/proc/scsi',
  '/proc/softirqs',
  '/proc/swaps',
  '/proc/sys/kernel/random/boot_id',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/cmdline',
  '/proc/config.gz',
  '/proc/kallsyms',
  '/sys/firmware',
  '/sys/fs/btrfs',
  '/sys/fs/ext4',
  '/sys/fs/xfs',
  '/sys/module',
  '/sys/devices/virtual/block',
  '/sys/devices/virtual/powercap',
  '/sys/devices/virtual/dmi',
  '/sys/block',
  '/sys/class/block',
  '/sys/dev/block',
]

const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

/** gVisor's own threads also count: below this limit, a program that forks too often ends the whole sandbox. */
const runscProcesses = 256

/** Returns the body of the create request, with all hardening of a sandbox. A test compares it with live containers. */
export function containerCreateOptions(input: ContainerCreateInput) {
  const { image, userId, labels, limits, seccomp, runtime } = input
  const { language, hasNetwork: network } = input
  const runner = runnerStart({ language, ...(network && { network }) })
  const { privateFolder } = runner
  const { orphanSeconds = defaultOrphanSeconds, stoppedOrphanSeconds = defaultStoppedOrphanSeconds } = input
  return {
    Image: image,
    User: `${userId}:${userId}`,
    WorkingDir: '/tmp',
    Hostname: 'sandbox',
    Env: Object.entries({ ...commonEnvironment, ...runner.environment }).map(([key, value]) => `${key}=${value}`),
    Entrypoint: [`${installFolder}/supervisor`, String(orphanSeconds), String(stoppedOrphanSeconds), ...runner.command],
    Cmd: [],
    // A health check of the image must not run in parallel with the program.
    Healthcheck: { Test: ['NONE'] },
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    // `true` would close stdin, and so end the program, with the worker's connection. Containers outlive workers.
    StdinOnce: false,
    Tty: false,
    NetworkDisabled: true,
    StopSignal: 'SIGKILL',
    Labels: { ...labels },
    HostConfig: {
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      CapAdd: [],
      Privileged: false,
      SecurityOpt: ['no-new-privileges:true', `seccomp=${seccomp}`],
      NetworkMode: 'none',
      IpcMode: 'none',
      PidMode: '',
      UTSMode: '',
      CgroupnsMode: 'private',
      PidsLimit: runtime === 'runsc' ? Math.max(limits.processes, runscProcesses) : limits.processes,
      Memory: limits.memoryBytes,
      // Equal to Memory: no swap. The default is twice the memory.
      MemorySwap: limits.memoryBytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      CpuShares: 256,
      OomScoreAdj: 500,
      Ulimits: [
        ulimit('nofile', maxOpenFiles),
        ulimit('fsize', limits.tmpBytes),
        ulimit('core', 0),
        ulimit('msgqueue', 0),
        ulimit('memlock', 65_536),
      ],
      Tmpfs: {
        '/tmp': `rw,noexec,nosuid,nodev,size=${limits.tmpBytes},nr_inodes=${maxFiles},mode=1777`,
        [keepAliveFolder]: 'rw,noexec,nosuid,nodev,size=4096,nr_inodes=4,mode=0755',
        ...(privateFolder && {
          [privateFolder]: `rw,noexec,nosuid,nodev,size=${privateFolderBytes},nr_inodes=64,mode=0700,uid=${userId},gid=${userId}`,
        }),
      },
      // With a log, a program that prints without end would fill the host's disk.
      LogConfig: { Type: 'none', Config: {} },
      // The supervisor is process 1.
      Init: false,
      AutoRemove: false,
      RestartPolicy: { Name: 'no' },
      MaskedPaths: maskedPaths,
      ReadonlyPaths: readonlyPaths,
      Binds: [],
      Mounts: input.hasFiles === true ? [filesMount] : [],
      Devices: [],
      PublishAllPorts: false,
      ...defined({ Runtime: runtime }),
    },
  }
}

/**
 * A volume of this container, which is removed with it. The daemon writes no archive into the read-only root, nor into
 * a volume that is mounted read-only. Only root may write in the volume, and no process of a sandbox is root.
 */
const filesMount = {
  Type: 'volume',
  Source: '',
  Target: filesRoot,
  ReadOnly: false,
  VolumeOptions: { NoCopy: true, Labels: { 'ptc.volume': 'files' }, DriverConfig: { Name: 'local', Options: {} } },
} as const

export type ContainerCreateOptions = ReturnType<typeof containerCreateOptions>

function ulimit(name: string, value: number) {
  return { Name: name, Soft: value, Hard: value }
}
