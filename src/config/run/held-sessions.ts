import type { Agent } from '../../agents/index.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { shareFileTool } from '../../common/names.js'
import { withEnvironment } from '../../common/run/environment.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { HeldSession } from '../../common/session/held-sessions.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { describeNetwork } from '../options/network.js'
import { type NetworkConfiguration, networkOf } from './choose-network.js'
import { imageBackend } from './image.js'
import { checkLanguage, obstacleToFilesOf } from './language.js'

/** The agent's own sandbox, with which its further ones agree unless they say otherwise. */
interface OwnSandbox {
  readonly backend: BackendChoice
  /** The sandbox that `auto` chooses, where this process knows it. */
  readonly used: BackendChoice
  /** Name of the language, without the environment. */
  readonly language: string
  readonly hasEnvironment: boolean
  readonly hasFiles: boolean
  readonly tools: ToolRegistry
}

/**
 * Returns the sandboxes that a run has besides its own: those of its agent. Only a run with a model has them.
 *
 * @throws PtcError RUN_INPUT_INVALID, TOOL_DUPLICATE, SANDBOX_NETWORK_UNSUPPORTED, SANDBOX_FILES_UNSUPPORTED,
 *   CONFIG_INVALID
 */
export function heldSessionsOf(
  configuration: NetworkConfiguration,
  agent: Agent,
  { clientTools, network: requested }: RunConfigInput,
  own: OwnSandbox,
): readonly HeldSession[] | undefined {
  if (agent.sessions.length === 0) return undefined
  const invalid = (problem: string, hint: string) =>
    new PtcError('RUN_INPUT_INVALID', `agent ${agent.name} has sessions, and ${problem}`, { hint })
  if (own.hasFiles && own.tools.get(shareFileTool) !== undefined)
    throw new PtcError('TOOL_DUPLICATE', `${shareFileTool} is the tool that gives files to all sandboxes of the run`, {
      hint: 'Rename the tool of the run with this name.',
    })
  if (clientTools !== undefined) throw invalid("their code can't call client tools", 'Remove one of both.')
  if (own.backend === hostedBackend)
    throw invalid(`the sandbox ${hostedBackend} has none`, 'Choose another sandbox, such as docker.')
  return agent.sessions.map((session): HeldSession => {
    const { name } = session
    const image = session.image ?? agent.image
    if (image !== undefined && own.backend !== 'auto' && own.backend !== imageBackend)
      throw invalid(`${name} has an image, and the sandbox ${own.backend} has none`, 'Choose the sandbox docker.')
    const sandbox = image === undefined ? own.backend : imageBackend
    const chosen = session.language ?? own.language
    const language = own.hasEnvironment ? withEnvironment(chosen) : chosen
    const used = sandbox === 'auto' ? own.used : sandbox
    checkLanguage(language, used)
    const obstacle = own.hasFiles ? obstacleToFilesOf(language, used) : undefined
    if (obstacle !== undefined)
      throw new PtcError('SANDBOX_FILES_UNSUPPORTED', `${name} of agent ${agent.name} has files, and ${obstacle}`, {
        hint: 'Choose the sandbox docker, or Python as its language.',
      })
    // A client that allows no network means all sandboxes. Its hosts are in place of those of the agent.
    const network = requested === false ? false : (session.network ?? requested ?? agent.network)
    const rules = networkOf(configuration, network, used, `session ${name} of agent ${agent.name}`)
    return {
      name,
      language,
      ...(sandbox !== 'auto' && { sandbox }),
      ...defined({ image, network, networkDescription: rules && describeNetwork(rules) }),
    }
  })
}
