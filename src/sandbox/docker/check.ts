import type { BackendCheck, BackendProblem } from '../backend.js'
import type { Environment } from '../cache-directory.js'
import {
  isPodman,
  keepsCheckpoints,
  readInfo,
  readVersion,
  usesUserNamespace,
  type DaemonInfo,
  type DaemonVersion,
} from './daemon-facts.js'
import { withDeadline } from './deadline.js'
import type { DockerEngine } from './engine.js'
import { dockerError } from './errors.js'
import type { ImageState } from './image.js'
import { podmanProblems } from './podman.js'

export interface CheckInput {
  readonly engine: DockerEngine
  readonly deadlineMs: number
  readonly runtime: string | undefined
  readonly image: string
  readonly inspectImage: (signal: AbortSignal) => Promise<ImageState>
}

/** Everything that is wrong with a daemon, and what to do. Never rejects; one deadline for all of it. */
export async function checkDaemon({
  engine,
  deadlineMs,
  runtime,
  image,
  inspectImage,
}: CheckInput): Promise<BackendCheck> {
  try {
    const [version, info, state] = await withDeadline(deadlineMs, undefined, (signal) =>
      Promise.all([readVersion(engine, signal), readInfo(engine, signal), inspectImage(signal)]),
    )
    const problems = [
      ...transportProblems(process.env),
      ...daemonProblems(info, runtime),
      ...(isPodman(version) ? podmanProblems : []),
      ...runcProblems(version, runtime),
      ...imageProblems(state),
    ]
    return {
      usable: problems.every(({ severity }) => severity !== 'error'),
      summary: summaryOf(version, info, image, runtime),
      problems,
    }
  } catch (thrown) {
    const error = dockerError(thrown, 'reach the Docker daemon')
    const problem = { severity: 'error', message: error.message, remedy: error.hint ?? '' } as const
    return { usable: false, summary: 'Docker is not available', problems: [problem] }
  }
}

function summaryOf(version: DaemonVersion, info: DaemonInfo, image: string, runtime: string | undefined): string {
  const isolation = usesUserNamespace(info) ? 'user namespace' : 'no user namespace (userns-remap or rootless adds one)'
  const parking = runtime === 'runsc' ? `, ${parkingOf(keepsCheckpoints(info, version, runtime))}` : ''
  return `${isPodman(version) ? 'Podman' : 'Docker'} ${version.Version} (API ${version.ApiVersion}), ${runtime ?? 'default runtime'}${parking}, ${isolation}, image ${image}`
}

function parkingOf(isKept: boolean): string {
  return isKept
    ? 'sandboxes that wait are kept on disk'
    : 'sandboxes that wait are rebuilt ("experimental": true in daemon.json keeps them on disk)'
}

/** How the daemon is reached: as dockerode reads the environment. */
export function transportProblems(environment: Environment): BackendProblem[] {
  const host = environment['DOCKER_HOST'] ?? ''
  const usesTls = environment['DOCKER_TLS_VERIFY'] === '1' || host.endsWith(':2376')
  if (!/^(?:tcp|http):/.test(host) || usesTls) return []
  const message = `${host} is not encrypted and asks nobody who they are: whoever reaches it owns the daemon's host`
  const remedy =
    'Use TLS with client certificates (DOCKER_TLS_VERIFY=1, DOCKER_CERT_PATH), or a socket through an SSH tunnel.'
  return [{ severity: 'warning', message, remedy }]
}

/** What the daemon can't enforce. */
export function daemonProblems(info: DaemonInfo, runtime: string | undefined): BackendProblem[] {
  const problems: BackendProblem[] = []
  const cgroups = 'Enable this cgroup controller in the kernel; rootless Docker needs cgroup v2 and systemd delegation.'
  const add = (severity: BackendProblem['severity'], message: string, remedy: string): void =>
    void problems.push({ severity, message, remedy })

  if (info.OSType !== undefined && info.OSType !== 'linux') {
    add('error', `the daemon runs ${info.OSType} containers`, 'Switch Docker to Linux containers.')
  }
  if (info.MemoryLimit === false) add('error', 'memory limits are not enforced', cgroups)
  if (info.PidsLimit === false) add('error', 'process limits are not enforced', cgroups)
  if (info.CpuCfsQuota === false) add('warning', 'CPU limits are not enforced', cgroups)
  if (info.SwapLimit === false) {
    add(
      'warning',
      'swap is not limited: a sandbox can use swap beyond its memory',
      'Boot with swapaccount=1, or without swap.',
    )
  }
  if (Array.isArray(info.SecurityOptions) && !info.SecurityOptions.some((option) => option.includes('seccomp'))) {
    add('error', 'the daemon has no seccomp', 'Use a kernel and a Docker with seccomp.')
  }
  const runtimes = Object.keys(info.Runtimes ?? {})
  if (runtime !== undefined && runtimes.length > 0 && !runtimes.includes(runtime)) {
    const known = runtimes.join(', ')
    add(
      'error',
      `the daemon has no runtime ${runtime} (it has ${known})`,
      `Install ${runtime} and name it in daemon.json.`,
    )
  }
  return problems
}

/** Versions before these can be made to write outside the container: CVE-2025-31133, -52565, -52881. */
export function isOldRunc(version: string): boolean {
  const [, major, minor, patch] = (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  if (major === undefined || minor === undefined || patch === undefined) return false
  if (major !== 1) return major < 1
  return minor < 2 || (minor === 2 && patch < 8) || (minor === 3 && patch < 3)
}

function runcProblems(version: DaemonVersion, runtime: string | undefined): BackendProblem[] {
  if (runtime !== undefined && runtime !== 'runc') return []
  const runc = (version.Components ?? []).find(({ Name }) => Name === 'runc')?.Version
  if (runc === undefined || !isOldRunc(runc)) return []
  const message = `runc ${runc} has known ways out of a container (CVE-2025-31133, CVE-2025-52565, CVE-2025-52881)`
  return [{ severity: 'warning', message, remedy: 'Update to runc 1.2.8, 1.3.3 or later, or use the runtime runsc.' }]
}

function imageProblems({ problem, remedy }: ImageState): BackendProblem[] {
  return problem === undefined ? [] : [{ severity: 'error', message: problem, remedy }]
}
