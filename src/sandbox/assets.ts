import { fileURLToPath } from 'node:url'

/** The folder of what runs inside a sandbox; published as it is, and as far from `src/sandbox` as from `dist/sandbox`. */
export const runnerDirectory = fileURLToPath(new URL('../../runner/', import.meta.url))
