import type { Agent } from '../../agents/index.js'
import { PtcError } from '../../common/errors.js'
import { workflowNames } from '../../common/names.js'
import { type EnvironmentConfig, hasEnvironment } from '../../common/run/environment.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { environmentOption } from '../options/environment.js'
import { mayHaveDispatcher } from './language.js'

/**
 * Returns the environment of a run: that of its agent, or else that of the configuration. Only a run with a model has
 * one; a plain run, and one with the tools of a client, have what the client gives them.
 *
 * @param language of the sandbox that the run shares with the run that started it. Undefined: it has its own sandbox
 * @throws PtcError RUN_INPUT_INVALID
 */
export function chosenEnvironment(
  { isPlain, clientTools }: RunConfigInput,
  agent: Agent | undefined,
  configured: EnvironmentConfig | undefined,
  workflowType: string | undefined,
  language: string | undefined,
): EnvironmentConfig | undefined {
  const hasModel = workflowType === workflowNames.agent || workflowType === workflowNames.conversation
  if (!hasModel || isPlain || clientTools) return undefined
  const own = agent?.environment === undefined ? undefined : environmentOption.parse(agent.environment)
  if (language === undefined || hasEnvironment(language)) return agent?.environment === undefined ? configured : own
  if (own === undefined) return undefined
  throw new PtcError('RUN_INPUT_INVALID', `agent ${agent?.name ?? ''} has an environment, and its parent has none`, {
    hint: "Give the parent an environment, too, or remove `sandbox: 'parent'` of the agent.",
  })
}

/**
 * Refuses an environment that the sandbox can't have, or whose tools have names of other tools of the run.
 *
 * @throws PtcError RUN_INPUT_INVALID, TOOL_DUPLICATE
 */
export function checkEnvironment(
  environment: EnvironmentConfig | undefined,
  language: string,
  backend: BackendChoice,
  tools: ToolRegistry,
): void {
  if (hasEnvironment(language) && !mayHaveDispatcher(backend))
    throw new PtcError('RUN_INPUT_INVALID', `the sandbox ${backend} has no environment tools`, {
      hint: 'Choose another sandbox, such as docker, or remove `environment`.',
    })
  const twice = environment?.tools.find((name) => tools.get(name) !== undefined)
  if (twice !== undefined)
    throw new PtcError('TOOL_DUPLICATE', `${twice} is a tool of the environment, and another tool of the run`, {
      hint: `Rename the tool, or name the tools of the environment without ${twice}.`,
    })
}
