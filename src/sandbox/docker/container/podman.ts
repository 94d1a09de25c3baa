import { type ContainerCreateOptions, keepAliveFolder } from './container-create-options.js'

/** Converts the create request to the variant of Docker's API that Podman's service implements. */
export function toPodmanOptions(body: ContainerCreateOptions, seccompFile: string): ContainerCreateOptions {
  const { SecurityOpt, Tmpfs, Ulimits, PidsLimit, MaskedPaths } = body.HostConfig
  return {
    ...body,
    HostConfig: {
      ...body.HostConfig,
      SecurityOpt: [
        // Docker takes the profile as text; Podman opens a file on its own host.
        ...SecurityOpt.map((option) => (option.startsWith('seccomp=') ? `seccomp=${seccompFile}` : option)),
        // Podman ignores MaskedPaths.
        `mask=${MaskedPaths.join(':')}`,
      ],
      // Podman's default is a million, which a service without CAP_SYS_RESOURCE may not set.
      Ulimits: [...Ulimits, { Name: 'nproc', Soft: PidsLimit, Hard: PidsLimit }],
      // Podman rejects options that it does not know.
      Tmpfs: {
        '/tmp': withoutInodes(Tmpfs['/tmp']),
        [keepAliveFolder]: withoutInodes(Tmpfs[keepAliveFolder]),
      },
    },
  }
}

function withoutInodes(mountOptions: string): string {
  return mountOptions.replace(/,nr_inodes=\d+/, '')
}
