import type { WorkerProcess } from '../environment/worker-process.js'

/** The response of a worker's `/readyz`. */
export interface Readiness {
  readonly code: number
  readonly body: {
    readonly status: string
    readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly problem?: string }[]
  }
}

/** Environment of a worker process with a health address. */
export const healthEnvironment = { PTC_HEALTH_ADDRESS: '127.0.0.1:0' } as const

/** The health address that a worker process has printed. */
export function healthUrl({ log }: WorkerProcess): string {
  return /health: (http:\S+)\/readyz/.exec(log)?.[1] ?? ''
}

export async function readiness(url: string): Promise<Readiness> {
  const response = await fetch(`${url}/readyz`)
  return { code: response.status, body: (await response.json()) as Readiness['body'] }
}
