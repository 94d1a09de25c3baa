import { PtcError } from '../../common/errors.js'
import type { McpHost } from '../../serve/mcp/index.js'
import { describedSandbox } from '../../worker/plugin/task-queues.js'
import type { OpenTools } from '../../config/configured-tools.js'
import type { Environment } from '../environment/environment.js'
import { offeredTools } from './offered-tools.js'

/** The parts of an MCP server from an environment, and the tools of its configuration. */
export interface OpenMcpHost extends McpHost, AsyncDisposable {}

/**
 * Lists the tools of the configuration at the first request. A source that can't list its tools is asked again at the
 * next request.
 *
 * @throws PtcError CONFIG_NOT_FOUND
 */
export function openMcpHost(environment: Environment, onError: (thrown: unknown) => void): OpenMcpHost {
  const { config, ptc, values } = environment
  if (config === undefined)
    throw new PtcError('CONFIG_NOT_FOUND', 'an MCP server needs a configuration with tools', {
      hint: 'Run it in the folder of ptc.config.ts, or name the file: --config FILE.',
    })
  let opening: Promise<OpenTools> | undefined
  const open = (): Promise<OpenTools> => {
    opening ??= config.tools.open(undefined, { callsTools: false })
    opening.catch(() => (opening = undefined))
    return opening
  }
  return {
    ptc,
    values,
    onError,
    async tools() {
      const { limits, documentedTools = Infinity } = config.runConfig
      const { registry, agents } = await open()
      const offered = { registry: registry.inLanguage(config.language), agents }
      return offeredTools(offered, { limits, ...describedSandbox(config), documentedTools })
    },
    async [Symbol.asyncDispose]() {
      const opened = await opening?.catch(() => undefined)
      await opened?.close()
    },
  }
}
