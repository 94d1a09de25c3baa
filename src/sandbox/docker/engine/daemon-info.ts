import { z } from 'zod'
import type { DockerEngine } from './docker-engine.js'

/** The fields of `GET /info` that are read here. Older daemons omit some of them. */
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
  Arch: z.string().optional(),
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
  return engine.call({ action: 'reach the Docker daemon', signal }, (_docker, abortSignal) =>
    engine.dial({ path, method: 'GET', statusCodes: { 200: true, 500: 'server error' }, abortSignal }),
  )
}

/**
 * Returns true when the daemon can checkpoint containers of this runtime. Only gVisor's checkpoints are used, not CRIU
 * for runc.
 */
export function supportsCheckpoint(info: DaemonInfo, runtime: string | undefined): boolean {
  return runtime === 'runsc' && info.ExperimentalBuild === true
}

/** Returns true when root in a container is not root on the host: the daemon is rootless, or remaps users. */
export function usesUserNamespace(info: DaemonInfo): boolean {
  return (info.SecurityOptions ?? []).some((option) => /name=(userns|rootless)\b/.test(option))
}
