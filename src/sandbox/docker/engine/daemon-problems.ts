import type { BackendProblem } from '../../backend.js'
import type { DaemonAddress } from './daemon-address.js'
import type { DaemonInfo } from './daemon-info.js'

/** Returns the limits that this daemon does not enforce. */
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
