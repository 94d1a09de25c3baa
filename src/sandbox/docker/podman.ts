import type { BackendProblem } from '../backend.js'
import type { ContainerBody } from './container-body.js'

/** What Podman's service can't enforce, whichever version. */
export const podmanProblems: readonly BackendProblem[] = [
  {
    severity: 'warning',
    message: 'Podman does not limit the number of files in /tmp: only memory bounds it',
    remedy: 'Use a Docker daemon where that matters.',
  },
]

/** The create request in Podman's dialect of Docker's API. */
export function forPodman(body: ContainerBody, seccompFile: string): ContainerBody {
  const { SecurityOpt, Tmpfs, Ulimits, PidsLimit, MaskedPaths } = body.HostConfig
  return {
    ...body,
    HostConfig: {
      ...body.HostConfig,
      SecurityOpt: [
        // Docker takes the profile itself; Podman opens a file of its machine.
        ...SecurityOpt.map((option) => (option.startsWith('seccomp=') ? `seccomp=${seccompFile}` : option)),
        // It reads no MaskedPaths.
        `mask=${MaskedPaths.join(':')}`,
      ],
      // Else Podman sets a million, which a service without CAP_SYS_RESOURCE may not.
      Ulimits: [...Ulimits, { Name: 'nproc', Soft: PidsLimit, Hard: PidsLimit }],
      // An option it does not know is an error.
      Tmpfs: { '/tmp': Tmpfs['/tmp'].replace(/,nr_inodes=\d+/, '') },
    },
  }
}
