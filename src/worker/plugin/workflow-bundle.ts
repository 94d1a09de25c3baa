import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { CompiledWorkerOptions } from '@temporalio/worker'
import { PtcError } from '../../common/errors.js'
import { workflowLimitMs } from '../watchdog/workflow-threads.js'

/** Written by the build. The same relative path works from `src/worker/plugin` and from `dist/worker/plugin`. */
const built = (name: string): string => fileURLToPath(new URL(`../../../dist/${name}`, import.meta.url))

const files = {
  plain: built('workflow-bundle.js'),
  traced: built('workflow-bundle-traced.js'),
  encrypted: built('workflow-bundle-encrypted.js'),
  'traced-encrypted': built('workflow-bundle-traced-encrypted.js'),
}

/**
 * `traced`: with the interceptors of OpenTelemetry, which add a header to each activity. `encrypted`: failures are
 * encoded.
 */
type BundleKind = keyof typeof files

export function bundleKind({ isTraced, isEncrypted }: BundleFeatures): BundleKind {
  if (isEncrypted) return isTraced ? 'traced-encrypted' : 'encrypted'
  return isTraced ? 'traced' : 'plain'
}

/** Features of a bundle in addition to the workflows. */
interface BundleFeatures {
  readonly isTraced: boolean
  readonly isEncrypted: boolean
}

/** The module of the failure converter, in the workflow bundle and in the worker. */
export const lenientFailuresPath = built('workflows/temporal/lenient-failures.js')

/** The module of the failure converter for workers that encrypt. */
export const encodedFailuresPath = built('workflows/temporal/encoded-failures.js')

/**
 * Path of the prebuilt workflow code.
 *
 * @throws PtcError INTERNAL when this installation was never built
 */
export function workflowBundle(kind: BundleKind = 'plain', path = files[kind]): { readonly codePath: string } {
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

/**
 * Maximum time for which workflow code runs without a pause. The SDK's 5 seconds are too short on a machine that is
 * slow for a moment, and Node aborts the process when the timeout fires ("async hook stack has become corrupted"). So
 * `watchWorkflowThreads` applies the limit, except in replays. The SDK accepts this option but does not document it.
 */
export const isolateTimeout: Pick<CompiledWorkerOptions, 'isolateExecutionTimeout'> = {
  isolateExecutionTimeout: workflowLimitMs,
}
