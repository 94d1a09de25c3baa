import { inject } from 'vitest'

export type Backend = 'docker' | 'wasm'

/** The backends of this machine. When Docker is missing, the suites that need it report that. */
export const backends: readonly Backend[] = inject('docker') === 'available' ? ['docker', 'wasm'] : ['wasm']

/** Docker when the machine has a daemon, else the embedded backend. */
export function defaultBackend(): Backend {
  return inject('docker') === 'available' ? 'docker' : 'wasm'
}
