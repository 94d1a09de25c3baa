import { PtcError } from '../common/errors.js'
import { didYouMean } from '../common/text/unknown-keys.js'
import type { ToolRegistry } from '../tools/registry.js'
import { type Agent, isAgent } from './agent.js'
import { problemOfDoneCheck } from './done-check.js'

/** The agents of a worker. Immutable. */
export interface Agents {
  readonly names: readonly string[]
  /** Undefined for an unknown name. */
  get(name: string): Agent | undefined
  /** @throws PtcError AGENT_UNKNOWN */
  require(name: string): Agent
}

/**
 * Checks agents with the tools of their configuration.
 *
 * @throws PtcError AGENT_DUPLICATE, TOOL_UNKNOWN; CONFIG_INVALID for an object that is not from defineAgent, and for a
 *   tool that can't check whether the work is done
 */
export function createAgents(agents: readonly unknown[], registry: ToolRegistry): Agents {
  const byName = new Map<string, Agent>()
  for (const [index, agent] of agents.entries()) {
    if (!isAgent(agent)) {
      throw new PtcError('CONFIG_INVALID', `agents[${index}] is not an agent`, {
        hint: 'Make it with defineAgent({ … }).',
      })
    }
    if (byName.has(agent.name)) {
      throw new PtcError('AGENT_DUPLICATE', `two agents are named ${agent.name}`, {
        hint: 'Rename or remove one of them.',
      })
    }
    checkAgentTools(agent, registry)
    checkDoneCheck(agent, registry)
    byName.set(agent.name, agent)
  }
  const names = Object.freeze([...byName.keys()])
  return Object.freeze({
    names,
    get: (name: string) => byName.get(name),
    require: (name: string) => byName.get(name) ?? unknownAgent(name, names),
  })
}

/** Names of an agent's tools; undefined: all. */
export function toolNamesOf({ tools }: Agent): readonly string[] | undefined {
  return tools?.map((tool) => (typeof tool === 'string' ? tool : tool.name))
}

function checkAgentTools(agent: Agent, registry: ToolRegistry): void {
  try {
    registry.subset(toolNamesOf(agent) ?? [])
  } catch (thrown) {
    if (!PtcError.isInstance(thrown)) throw thrown
    throw new PtcError(thrown.code, `agent ${agent.name}: ${thrown.message}`, { hint: 'Add the tool to `tools`.' })
  }
  for (const tool of agent.tools ?? []) {
    if (typeof tool === 'string' || registry.get(tool.name) === tool) continue
    throw new PtcError('CONFIG_INVALID', `agent ${agent.name} has another tool ${tool.name} than the configuration`, {
      hint: 'Use the tool of the configuration, or its name.',
    })
  }
}

function checkDoneCheck(agent: Agent, registry: ToolRegistry): void {
  const { name, doneCheck } = agent
  if (doneCheck === undefined) return
  const tool = registry.get(doneCheck)
  const names = toolNamesOf(agent) ?? registry.names
  if (!tool || !names.includes(doneCheck)) {
    throw new PtcError('TOOL_UNKNOWN', `agent ${name} has no tool ${doneCheck}${didYouMean(doneCheck, names)}`, {
      hint: 'The tool of `doneCheck` is one of the tools of the agent.',
    })
  }
  const problem = problemOfDoneCheck(tool)
  if (problem !== undefined) throw new PtcError('CONFIG_INVALID', `agent ${name}: doneCheck ${doneCheck} ${problem}`)
}

function unknownAgent(name: string, names: readonly string[]): never {
  const known = names.length === 0 ? 'The configuration has no agents.' : `There are: ${names.join(', ')}.`
  throw new PtcError('AGENT_UNKNOWN', `there is no agent named ${JSON.stringify(name)}${didYouMean(name, names)}`, {
    hint: known,
  })
}
