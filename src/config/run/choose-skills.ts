import type { Agent } from '../../agents/index.js'
import type { RecordedMode } from '../../common/agent/task-modes.js'
import { PtcError } from '../../common/errors.js'
import { workflowNames } from '../../common/names.js'
import type { BackendChoice, SessionOwner } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { type ChosenSkills, requireSkills, skillsOf } from '../../skills/index.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { obstacleToFilesOf } from './language.js'
import type { RunConfiguration } from './resolve-run.js'

/** The parts of a run that say which skills it can have. */
interface RunWithSkills {
  readonly workflowType: string | undefined
  readonly backend: BackendChoice
  readonly language: string
  readonly tools: ToolRegistry
  readonly mode?: RecordedMode
  readonly sessionOwner: SessionOwner | undefined
}

/**
 * Returns the skills of a run: those of its agent. Only a run with a model has skills. A plain run, and one with the
 * tools of a client, have what the client gives them.
 *
 * @throws PtcError SKILL_UNKNOWN, SANDBOX_FILES_UNSUPPORTED
 */
export function chooseSkills(
  configuration: Pick<RunConfiguration, 'skills' | 'backendsWithoutFiles'>,
  { activeSkills = [], isPlain, clientTools }: RunConfigInput,
  agent: Agent | undefined,
  run: RunWithSkills,
): ChosenSkills {
  const { workflowType, tools, mode } = run
  const hasModel = workflowType === workflowNames.agent || workflowType === workflowNames.conversation
  const skills = hasModel && !isPlain && !clientTools ? skillsOf(configuration.skills, agent) : []
  requireSkills(skills, activeSkills)
  const mayActivate = mode !== 'single-turn'
  const used = skills.filter(({ name, isHidden }) => activeSkills.includes(name) || (mayActivate && !isHidden))
  const withFiles = used.find(({ files }) => files.length > 0)
  const obstacle = withFiles && obstacleToFiles(run, configuration)
  if (withFiles && obstacle !== undefined)
    throw new PtcError('SANDBOX_FILES_UNSUPPORTED', `skill ${withFiles.name} has files, and ${obstacle}`, {
      hint: 'Choose another sandbox, or name the skills of the agent: `skills: []` for none.',
    })
  return { skills, active: [...new Set(activeSkills)], tools: tools.names, mayActivate }
}

/** Returns why the sandbox of a run can't have files. */
function obstacleToFiles(
  { backend, language, sessionOwner: owner }: RunWithSkills,
  { backendsWithoutFiles }: Pick<RunConfiguration, 'backendsWithoutFiles'>,
): string | undefined {
  if (owner?.type === 'named') return `session ${owner.name} has the files of no run`
  if (owner) return 'the run uses the sandbox of the run that started it'
  const hasNone = backendsWithoutFiles.includes(backend)
  return hasNone ? `the sandbox ${backend} can't have files` : obstacleToFilesOf(language, backend)
}
