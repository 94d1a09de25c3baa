import { inject } from 'vitest'

export type Backend = 'docker' | 'wasm'

/** The backends of this machine. Without Docker the suites that need it report that it is missing. */
export const backends: readonly Backend[] = inject('docker') === 'available' ? ['docker', 'wasm'] : ['wasm']

/** Docker where there is a daemon. */
export function defaultBackend(): Backend {
  return inject('docker') === 'available' ? 'docker' : 'wasm'
}
