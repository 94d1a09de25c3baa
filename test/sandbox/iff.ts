import { it } from 'vitest'

/** A test only for backends that claim this; for others there is none, and so none that is skipped. */
export const iff = (claimed: boolean): typeof it | (() => void) => (claimed ? it : () => undefined)
