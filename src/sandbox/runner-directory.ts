import { fileURLToPath } from 'node:url'

/**
 * The folder with the runner, which is published without a build. Its relative path from `src/sandbox` and
 * `dist/sandbox` is the same.
 */
export const runnerDirectory = fileURLToPath(new URL('../../runner/', import.meta.url))
