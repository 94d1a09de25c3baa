import type { BackendProblem } from '../../backend.js'
import type { DaemonAddress } from './daemon-address.js'
import { isPodman, type DaemonInfo, type DaemonVersion } from './daemon-info.js'

/** Returns all limits that this daemon, Docker or Podman, does not enforce. */
export function enforcementProblems(
  info: DaemonInfo,
  version: DaemonVersion,
  runtime: string | undefined,
): readonly BackendProblem[] {
  return [...daemonProblems(info, runtime), ...(isPodman(version) ? podmanProblems : [])]
}

/** Limits that no version of Podman's service enforces. */
const podmanProblems: readonly BackendProblem[] = [
  {
    severity: 'warning',
    message: 'Podman does not limit the number of files in /tmp: only memory bounds it',
    remedy: 'Use a Docker daemon where that matters.',
  },
]

/** Returns the limits that /info reports as missing. */
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

/** Returns the problems of the connection to the daemon. */
export function transportProblems({ host = '', usesTls }: Pick<DaemonAddress, 'host' | 'usesTls'>): BackendProblem[] {
  if (!/^(?:tcp|http):/.test(host) || usesTls) return []
  const message = `${host} is not encrypted or authenticated: anyone who can reach it controls the daemon's host`
  const remedy =
    'Use TLS with client certificates (DOCKER_TLS_VERIFY=1, DOCKER_CERT_PATH), or a socket through an SSH tunnel.'
  return [{ severity: 'warning', message, remedy }]
}

/** Returns true for versions with CVE-2025-31133, -52565 and -52881, by which code can write outside its container. */
export function isOldRunc(version: string): boolean {
  const [, major, minor, patch] = (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).map(Number)
  if (major === undefined || minor === undefined || patch === undefined) return false
  if (major !== 1) return major < 1
  return minor < 2 || (minor === 2 && patch < 8) || (minor === 3 && patch < 3)
}

export function runcProblems(version: DaemonVersion, runtime: string | undefined): BackendProblem[] {
  if (runtime !== undefined && runtime !== 'runc') return []
  const runc = (version.Components ?? []).find(({ Name }) => Name === 'runc')?.Version
  if (runc === undefined || !isOldRunc(runc)) return []
  const message = `runc ${runc} has known container escapes (CVE-2025-31133, CVE-2025-52565, CVE-2025-52881)`
  return [{ severity: 'warning', message, remedy: 'Update to runc 1.2.8, 1.3.3 or later, or use the runtime runsc.' }]
}
