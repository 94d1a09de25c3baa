import { inject } from 'vitest'

/** The harder worlds that the functional suite also runs in (`npm run test:modes`); what each does is in test/modes. */
export type Mode = 'always-replay' | 'always-evict' | 'always-reattach'

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined in the world as it is. */
    readonly mode: Mode | undefined
  }
}

/** For what can't be asked in a mode: `skip(inMode('always-evict'), 'the reason')`. */
export function inMode(mode: Mode): boolean {
  return inject('mode') === mode
}

/** Sandboxes that always-evict takes from code that stops this often; in every other world none. */
export function evictedSandboxes(suspensions: number): number {
  return inMode('always-evict') ? suspensions : 0
}
