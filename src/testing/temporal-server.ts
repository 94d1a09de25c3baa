import { TestWorkflowEnvironment } from '@temporalio/testing'
import type { DataConverter } from '@temporalio/common'
import { devServerSettings, findTemporalCli } from '../dev-server/temporal-cli.js'
import { messageOf, PtcError } from '../common/errors.js'

/** The Temporal server of a test environment. */
export type ServerOption =
  /** Starts a dev server in memory. */
  | { readonly cliPath: string }
  /** Uses a running server, and leaves it running. */
  | { readonly address: string; readonly namespace?: string }

/**
 * Starts a dev server with a Temporal CLI, or connects to a running server. `teardown()` of the result ends it.
 *
 * @param option default: the CLI that `ptc` uses; installs one when the machine has none
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function startTemporal(
  option: ServerOption | undefined,
  dataConverter: DataConverter,
  onProgress: (line: string) => void,
): Promise<TestWorkflowEnvironment> {
  const client = { dataConverter }
  try {
    if (option !== undefined && 'address' in option)
      return await TestWorkflowEnvironment.createFromExistingServer({ ...option, client })
    const path = option?.cliPath ?? (await findCli(onProgress))
    return await TestWorkflowEnvironment.createLocal({
      client,
      server: {
        executable: { type: 'existing-path', path },
        log: { format: 'pretty', level: 'error' },
        extraArgs: [...devServerSettings],
      },
    })
  } catch (cause) {
    if (PtcError.isInstance(cause)) throw cause
    throw new PtcError('TEMPORAL_UNREACHABLE', `the test environment has no Temporal server: ${messageOf(cause)}`, {
      hint: 'Pass `server: { address }` of a running server, or `server: { cliPath }` of a Temporal CLI.',
      cause,
    })
  }
}

/** Long enough to build the CLI with Go for the first time. */
const findCliMs = 20 * 60_000

function findCli(onProgress: (line: string) => void): Promise<string> {
  return findTemporalCli({ environment: process.env, onProgress, signal: AbortSignal.timeout(findCliMs) })
}
