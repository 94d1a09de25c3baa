import { pluralize } from '../../common/text/text.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { noLog } from '../../tools/sources/tool-source.js'
import { type Check, ok, warning } from './check.js'

/** Names of tools that are shown: an API may have thousands. */
const maxNames = 50

/** Lists the tools of the sources of the configuration, and closes the sources. Returns nothing without sources. */
export async function checkTools(config: Pick<ResolvedConfig, 'tools'> | undefined): Promise<readonly Check[]> {
  const { sources = [], known } = config?.tools ?? {}
  if (!config || sources.length === 0) return []
  const problems: string[] = []
  const { registry, close } = await config.tools.open({ ...noLog, warn: (line) => void problems.push(line) })
  await close()
  const names = registry.names.filter((name) => !known?.get(name))
  const others = names.length > maxNames ? `, and ${names.length - maxNames} more` : ''
  const listed = `${pluralize(names.length, 'tool')} (${names.slice(0, maxNames).join(', ')}${others})`
  return [
    ok('Tool sources', `${sources.map(({ name }) => name).join(', ')}: ${listed}`),
    ...problems.map((line) =>
      warning('Tool sources', line, 'docs/guides/tools.md describes the tools that runs can use.'),
    ),
  ]
}
