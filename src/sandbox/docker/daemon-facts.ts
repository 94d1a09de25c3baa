import { z } from 'zod'
import type { DockerEngine } from './engine.js'

/** What `docker info` says, as far as it is read here; older and other daemons leave some out. */
const daemonInfo = z.object({
  OSType: z.string().optional(),
  MemoryLimit: z.boolean().optional(),
  SwapLimit: z.boolean().optional(),
  PidsLimit: z.boolean().optional(),
  CpuCfsQuota: z.boolean().optional(),
  SecurityOptions: z.array(z.string()).nullish(),
  Runtimes: z.record(z.string(), z.unknown()).nullish(),
  ExperimentalBuild: z.boolean().optional(),
})

const daemonVersion = z.object({
  Version: z.string(),
  ApiVersion: z.string(),
  Components: z.array(z.object({ Name: z.string(), Version: z.string() })).nullish(),
})

export type DaemonInfo = Readonly<z.infer<typeof daemonInfo>>
export type DaemonVersion = Readonly<z.infer<typeof daemonVersion>>

/** @throws PtcError SANDBOX_UNAVAILABLE */
export async function readInfo(engine: DockerEngine, signal?: AbortSignal): Promise<DaemonInfo> {
  return daemonInfo.parse(await get(engine, '/info', signal))
}

/** @throws PtcError SANDBOX_UNAVAILABLE */
export async function readVersion(engine: DockerEngine, signal?: AbortSignal): Promise<DaemonVersion> {
  return daemonVersion.parse(await get(engine, '/version', signal))
}

function get(engine: DockerEngine, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  return engine.call({ doing: 'reach the Docker daemon', signal }, (_docker, abortSignal) =>
    engine.dial({ path, method: 'GET', statusCodes: { 200: true, 500: 'server error' }, abortSignal }),
  )
}

/** Podman's service speaks Docker's API, but not to the letter. */
export function isPodman(version: DaemonVersion): boolean {
  return (version.Components ?? []).some(({ Name }) => Name === 'Podman Engine')
}

/** True when a container of this runtime can be written to disk and started from it: CRIU, for runc, is not relied upon. */
export function keepsCheckpoints(info: DaemonInfo, version: DaemonVersion, runtime: string | undefined): boolean {
  return runtime === 'runsc' && info.ExperimentalBuild === true && !isPodman(version)
}

/** True when root in a container is not root outside: the daemon is rootless, or remaps users. */
export function usesUserNamespace(info: DaemonInfo): boolean {
  return (info.SecurityOptions ?? []).some((option) => /name=(userns|rootless)\b/.test(option))
}
