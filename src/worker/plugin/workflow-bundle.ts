import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PtcError } from '../../common/errors.js'

/** Written by the build. The same relative path works from `src/worker/plugin` and from `dist/worker/plugin`. */
const file = fileURLToPath(new URL('../../../dist/workflow-bundle.js', import.meta.url))

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

let digest: string | undefined

/**
 * Identifies the workflow code in the events of a history. Shorter than the SDK's default, which takes a sixth of the
 * history of a call.
 */
export function workflowBuildId(): string {
  digest ??= createHash('sha256').update(readFileSync(workflowBundle().codePath)).digest('hex').slice(0, 12)
  return digest
}
