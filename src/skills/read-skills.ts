import { realpath } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { messageOf } from '../common/errors.js'
import { pluralize } from '../common/text/text.js'
import { sandboxFiles } from '../sandbox/sandbox-files.js'
import type { ToolLog } from '../tools/tool-context.js'
import { skillLimits } from './limits.js'
import { type ByteBudget, isLeftOut, list, readFolder } from './read-folder.js'
import { invalidSkill, type Skill } from './skill.js'

const skillFile = 'SKILL.md'

/**
 * Reads the skills of folders, in the order of their names. A folder is a skill, or has skills as its folders.
 *
 * @param base the base of relative paths
 * @throws PtcError SKILL_INVALID
 */
export async function readSkills(folders: readonly string[], base: string, log: ToolLog): Promise<readonly Skill[]> {
  const skills = new Map<string, Skill>()
  const total: ByteBudget = { left: skillLimits.totalBytes }
  for (const folder of folders) {
    for (const path of await skillFolders(resolve(base, folder), log)) {
      const skill = await readSkill(path, total, log)
      const same = skills.get(skill.name)
      if (same) throw invalidSkill(path, `two skills have the name ${skill.name}: the other is ${same.folder}`)
      skills.set(skill.name, skill)
      if (skills.size > skillLimits.skills)
        throw invalidSkill(folder, `a configuration has at most ${pluralize(skillLimits.skills, 'skill')}`)
    }
  }
  return [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the paths of the skills in a folder, without links in them. */
async function skillFolders(folder: string, log: ToolLog): Promise<readonly string[]> {
  const root = await realpath(folder).catch((thrown: unknown) => {
    throw invalidSkill(folder, `can't be read: ${messageOf(thrown)}`, 'It is in `skills` of the configuration.')
  })
  const entries = await list(root)
  if (entries.some(({ name }) => name === skillFile)) return [root]
  const found: string[] = []
  for (const entry of entries) {
    if (isLeftOut(entry.name)) continue
    const path = join(root, entry.name)
    if (entry.isSymbolicLink()) throw invalidSkill(path, 'is a link, which is refused', 'Name its target in `skills`.')
    if (!entry.isDirectory()) continue
    const names = (await list(path)).map(({ name }) => name)
    const similar = names.find((name) => name.toLowerCase() === skillFile.toLowerCase() && name !== skillFile)
    if (names.includes(skillFile)) found.push(path)
    else if (similar !== undefined) throw invalidSkill(join(path, similar), `must be named ${skillFile}`)
    else log.warn(`${path} has no ${skillFile}: it is not a skill`)
  }
  if (found.length === 0) log.warn(`${folder} has no skills`)
  return found
}

async function readSkill(folder: string, total: ByteBudget, log: ToolLog): Promise<Skill> {
  const files = await readFolder(folder, total)
  const file = join(folder, skillFile)
  const source = files.find(({ path }) => path === skillFile)
  if (!source) throw invalidSkill(file, 'is missing, or not a file')
  // Most workers have no skills, and the parser of YAML is large.
  const { parseSkill } = await import('./frontmatter.js')
  const { header, instructions, warnings } = parseSkill(source.content, file)
  const expected = basename(folder)
  if (header.name !== expected)
    throw invalidSkill(
      file,
      `its name ${JSON.stringify(header.name)} is not that of its folder, ${JSON.stringify(expected)}`,
    )
  for (const warning of warnings) log.warn(`${file}: ${warning}`)
  const placed = files.map((each) => ({ ...each, path: `${header.name}/${each.path}` }))
  const { digest } = sandboxFiles(placed)
  return { ...header, folder, instructions, files: files.length > 1 ? placed : [], digest }
}
