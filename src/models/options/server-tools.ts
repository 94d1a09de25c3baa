import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import type { ServerTools } from '../../common/agent/model-settings.js'
import { didYouMean } from '../../common/text/unknown-keys.js'

const tool = z.custom<JsonObject & { readonly type: string }>(
  (value) => typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string',
  'must be a tool as the API has it: an object with a type',
)

const schema = z.record(z.string(), z.array(tool).min(1)).optional()

/** Tools of Anthropic's API that the client executes. Here, `execute_code` and tools of the configuration do that. */
const clientTools = /^(?:bash|text_editor|computer|browser|memory)_/

/**
 * The server tools of a configuration or an agent.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function parseServerTools(
  value: unknown,
  providers: Readonly<Record<string, unknown>>,
  where: string,
): { readonly serverTools?: ServerTools } {
  const hint = 'docs/guides/models.md#server-tools describes them.'
  const invalid = (problem: string) => new PtcError('CONFIG_INVALID', `${where}: serverTools: ${problem}`, { hint })
  const { error, data: serverTools } = schema.safeParse(value)
  if (error) throw invalid(z.prettifyError(error))
  if (serverTools === undefined) return {}
  for (const [provider, tools] of Object.entries(serverTools)) {
    if (!(provider in providers))
      throw invalid(`there is no provider "${provider}"${didYouMean(provider, Object.keys(providers))}`)
    const types = tools.map(({ type }) => type)
    const clientTool = types.find((type) => clientTools.test(type))
    if (clientTool !== undefined) throw invalid(`${clientTool} is a tool that the client executes, not the server`)
  }
  return { serverTools }
}
