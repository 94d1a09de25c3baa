import type { Agent } from '../../agents/index.js'
import { PtcError } from '../../common/errors.js'
import { problemOfUploads, type RunFilesConfig, type StoredFile } from '../../common/files/files.js'
import type { BackendChoice, SessionOwner } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { mayHaveDispatcher } from './language.js'
import type { RunConfiguration } from './resolve-run.js'

/** The parts of a run that say whether it can have files. */
interface RunWithFiles {
  readonly backend: BackendChoice
  readonly sessionOwner: SessionOwner | undefined
  readonly tmpBytes: number
}

/**
 * Returns the files of a run; undefined when it has none. Code that uses the sandbox of another run has the files of
 * that one.
 *
 * @throws PtcError RUN_INPUT_INVALID, SANDBOX_FILES_UNSUPPORTED
 */
export function filesOf(
  { files: configured, preferredBackend }: Pick<RunConfiguration, 'files' | 'preferredBackend'>,
  { files: uploads, isPlain }: RunConfigInput,
  agent: Agent | undefined,
  { backend, sessionOwner, tmpBytes }: RunWithFiles,
): RunFilesConfig | undefined {
  if (uploads === undefined && (isPlain || sessionOwner || !(agent?.files ?? configured))) return undefined
  if (isPlain) throw new PtcError('RUN_INPUT_INVALID', 'a plain run has no code, so it has no files')
  if (sessionOwner)
    throw new PtcError('RUN_INPUT_INVALID', 'a run in the sandbox of another has no files of its own', {
      hint: 'Upload the files to the run or the session that has the sandbox.',
    })
  const used = backend === 'auto' ? preferredBackend : backend
  if (!mayHaveDispatcher(used))
    throw new PtcError('SANDBOX_FILES_UNSUPPORTED', `the sandbox ${used} has no uploads and no artifacts`, {
      hint: 'Choose the sandbox docker, or `files: false`.',
    })
  const problem = problemOfUploads(uploads ?? [], tmpBytes)
  if (problem !== undefined)
    throw new PtcError('RUN_INPUT_INVALID', `the run refuses its files: ${problem}`, {
      hint: 'Raise `limits.tmpBytes` for larger files, and `limits.memoryBytes` with it.',
    })
  // `checkRunOptions` refuses uploads that are not stored.
  return { uploads: (uploads ?? []).filter((upload): upload is StoredFile => 'parts' in upload) }
}
