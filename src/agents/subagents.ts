import { PtcError } from '../common/errors.js'
import type { SubagentTarget } from '../common/calls/tool-config.js'
import { subagentTool } from '../tools/subagent-tool.js'
import type { Tool } from '../tools/tool.js'
import { type Agent, isAgent } from './agent.js'

const task = 'All that the agent gets to know: it sees none of your messages and variables.'

const sharedTask = 'All that the agent gets to know in addition to the variables of your code. Name those it needs.'

/**
 * The tools that start sub-agents, one for each agent that another agent names. `createAgents` checks everything else.
 *
 * @param tools the other tools of the configuration
 * @throws PtcError TOOL_NAME_INVALID for a name that no tool may have; CONFIG_INVALID for an agent without a
 *   description, or one with the name of a tool
 */
export function subagents(agents: readonly unknown[], tools: readonly Tool[]): Tool[] {
  const known = agents.filter((agent) => isAgent(agent))
  const used = new Set(known.flatMap(namesOfSubagents))
  const toolNames = new Set(tools.map(({ name }) => name))
  const byName = new Map(known.map((agent) => [agent.name, agent]))
  return [...byName.values()].flatMap((agent) => {
    if (!used.has(agent.name)) return []
    if (!toolNames.has(agent.name)) return [toTool(agent)]
    throw new PtcError('CONFIG_INVALID', `sub-agent ${agent.name} has the name of a tool`, {
      hint: 'A sub-agent is a tool of its name. Rename the agent or the tool.',
    })
  })
}

/** Names of the agents that an agent may start. */
export function namesOfSubagents({ agents }: Agent): readonly string[] {
  return agents.map((agent) => (typeof agent === 'string' ? agent : agent.name))
}

/** The sub-agents that the calls of a tool start; undefined for any other tool. */
export function subagentOf({ remote }: Tool): SubagentTarget | undefined {
  return remote?.kind === 'workflow' ? remote.agent : undefined
}

/** Whether each call of a tool starts a clone of the agent that calls. */
export function startsClones(tool: Tool): boolean {
  const target = subagentOf(tool)
  return target !== undefined && target.name === undefined
}

function toTool({ name, description, outputSchema, budget, sandbox }: Agent): Tool {
  const isSharing = sandbox === 'parent'
  if (description === undefined) {
    throw new PtcError('CONFIG_INVALID', `agent ${name}: description is missing`, {
      hint: 'Another agent has it as a sub-agent, and its model must know what the agent does and what it returns.',
    })
  }
  const { whenSpent: _, ...amounts } = budget
  return subagentTool(
    {
      name,
      description: `${description}\n\n${isAgentNote}${isSharing ? ` ${isSharingNote}` : ''}`,
      task: isSharing ? sharedTask : task,
      output: outputSchema,
      // While code waits, its interpreter executes no other code.
      allowedCallers: isSharing ? ['direct'] : ['direct', 'code_execution'],
    },
    Object.freeze({
      name,
      ...(Object.keys(amounts).length > 0 && { budget: amounts }),
      ...(isSharing && { sharesSandbox: true as const }),
    }),
  )
}

const isSharingNote = 'Its code runs in the sandbox of your code: it sees your variables, and you see those it sets.'

const isAgentNote = 'An agent: it works on the task by itself, with tools of its own, and may take minutes.'
