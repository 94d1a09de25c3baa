import type { Agent } from '../../agents/index.js'
import { PtcError } from '../../common/errors.js'
import { problemOfUploads, type RunFilesConfig, type StoredFile } from '../../common/files/files.js'
import type { BackendChoice, SessionOwner } from '../../common/run/run-config.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { obstacleToFilesOf } from './language.js'
import type { RunConfiguration } from './resolve-run.js'

/** The parts of a run that say whether it can have files. */
interface RunWithFiles {
  readonly tools: readonly Pick<ToolConfig, 'name' | 'returnsFile'>[]
  readonly backend: BackendChoice
  readonly language: string
  readonly sessionOwner: SessionOwner | undefined
  readonly tmpBytes: number
}

/**
 * Returns the files of a run; undefined when it has none. A run with a tool that returns files has some. Code that uses
 * the sandbox of another run has the files of that one.
 *
 * @throws PtcError RUN_INPUT_INVALID, SANDBOX_FILES_UNSUPPORTED
 */
export function filesOf(
  { files: configured }: Pick<RunConfiguration, 'files'>,
  { files: uploads, isPlain }: RunConfigInput,
  agent: Agent | undefined,
  { tools, backend, language, sessionOwner, tmpBytes }: RunWithFiles,
): RunFilesConfig | undefined {
  const fileTool = tools.find(({ returnsFile }) => returnsFile)
  const isAsked = fileTool !== undefined || (agent?.files ?? configured)
  if (uploads === undefined && (isPlain || sessionOwner || !isAsked)) return undefined
  if (isPlain) throw new PtcError('RUN_INPUT_INVALID', 'a plain run has no code, so it has no files')
  if (sessionOwner)
    throw new PtcError('RUN_INPUT_INVALID', 'a run in the sandbox of another has no files of its own', {
      hint: 'Upload the files to the run or the session that has the sandbox.',
    })
  const obstacle = obstacleToFilesOf(language, backend)
  if (obstacle !== undefined) {
    const [problem, remedy] = fileTool
      ? [`tool ${fileTool.name} returns files, and ${obstacle}`, 'a run without the tool']
      : [obstacle, '`files: false`']
    throw new PtcError('SANDBOX_FILES_UNSUPPORTED', problem, {
      hint: `Choose the sandbox docker, or ${remedy}. In the embedded sandbox, code in Python can have files.`,
    })
  }
  const problem = problemOfUploads(uploads ?? [], tmpBytes)
  if (problem !== undefined)
    throw new PtcError('RUN_INPUT_INVALID', `the run refuses its files: ${problem}`, {
      hint: 'Raise `limits.tmpBytes` for larger files, and `limits.memoryBytes` with it.',
    })
  // `checkRunOptions` refuses uploads that are not stored.
  return { uploads: (uploads ?? []).filter((upload): upload is StoredFile => 'parts' in upload) }
}
