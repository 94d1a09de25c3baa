import { inject } from 'vitest'

/** Modes in which the functional suite runs again (`npm run test:modes`); test/modes implements them. */
export type Mode = 'always-replay' | 'always-evict' | 'always-reattach'

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined in a run without a mode. */
    readonly mode: Mode | undefined
  }
}

/** For tests that can't run in a mode: `skip(inMode('always-evict'), 'the reason')`. */
export function inMode(mode: Mode): boolean {
  return inject('mode') === mode
}

/** Number of extra sandboxes in always-evict for code with this many suspensions; 0 in other modes. */
export function evictedSandboxes(suspensions: number): number {
  return inMode('always-evict') ? suspensions : 0
}
