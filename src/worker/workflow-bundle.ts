import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PtcError } from '../common/errors.js'

/** Made by the build, and as far from `src/worker` as from `dist/worker`: a worker run from its sources takes it too. */
const file = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url))

/**
 * The prebuilt workflow code.
 *
 * @throws PtcError INTERNAL when this installation was never built
 */
export function workflowBundle(path = file): { readonly codePath: string } {
  if (existsSync(path)) return { codePath: path }
  throw new PtcError('INTERNAL', `the workflow bundle ${path} is missing`, {
    hint: 'In a checkout, `npm run build` makes it; an installed package without it is broken: install it again.',
  })
}
