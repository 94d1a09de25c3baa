import { z } from 'zod'
import { toolNamePattern } from '../../../common/names.js'
import { defineTool } from '../../define-tool.js'
import type { Tool } from '../../tool.js'
import { ToolError } from '../../tool-error.js'

/**
 * Tools in the place of those of a server that was not available when a run began: their documentation tells models and
 * code what is missing, and their calls are refused.
 *
 * @param namedTools names of tools that agents and rules name: each has a tool that is refused
 */
export function unavailableTools(server: string, namedTools: readonly string[]): readonly Tool[] {
  const prefix = `${server}__`
  const named = namedTools.filter((name) => name.startsWith(prefix) && toolNamePattern.test(name))
  return [...new Set([`${prefix}unavailable`, ...named])].map((name) =>
    defineTool({
      name,
      description:
        `Not available. MCP server ${server} did not answer when this run began, so the run has none of its tools, and ` +
        'calls of this function fail. Say so where the task needs the server.',
      input: z.looseObject({}),
      output: z.json(),
      effect: 'read',
      run: () => {
        throw new ToolError(
          `MCP server ${server} was not available when this run began, so the run has none of its tools. ` +
            'A run that begins later has them, when the server is available again.',
        )
      },
    }),
  )
}
