import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PtcError } from '../common/errors.js'

/** Written by the build. The same relative path works from `src/worker` and from `dist/worker`. */
const file = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url))

/**
 * Path of the prebuilt workflow code.
 *
 * @throws PtcError INTERNAL when this installation was never built
 */
export function workflowBundle(path = file): { readonly codePath: string } {
  if (existsSync(path)) return { codePath: path }
  throw new PtcError('INTERNAL', `the workflow bundle ${path} is missing`, {
    hint: 'In a checkout, `npm run build` makes it; an installed package without it is broken: install it again.',
  })
}
