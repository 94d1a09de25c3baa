import { pluralize } from '../../common/text/text.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { noLog } from '../../tools/sources/tool-source.js'
import { type Check, ok, warning } from './check.js'

/** Names of skills that are shown. */
const maxNames = 50

/** Reads the skills of the configuration. Returns nothing without folders of skills. */
export async function checkSkills(config: Pick<ResolvedConfig, 'skills'> | undefined): Promise<readonly Check[]> {
  if (!config || config.skills.folders.length === 0) return []
  const problems: string[] = []
  const skills = await config.skills.read({ ...noLog, warn: (line) => void problems.push(line) })
  const names = skills.map(({ name, isHidden }) => (isHidden ? `${name} (hidden)` : name))
  const others = names.length > maxNames ? `, and ${names.length - maxNames} more` : ''
  const listed = skills.length === 0 ? '' : ` (${names.slice(0, maxNames).join(', ')}${others})`
  return [
    ok('Skills', `${config.skills.folders.join(', ')}: ${pluralize(skills.length, 'skill')}${listed}`),
    ...problems.map((line) => warning('Skills', line, 'docs/guides/skills.md describes the format.')),
  ]
}
