import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../../test/support/folders.js'
import { readSkills } from '../../../skills/read-skills.js'
import { noLog } from '../../../tools/sources/tool-source.js'
import { failed } from '../../doctor/check.js'
import { formatCheck } from './doctor.js'

it('ptc doctor shows each problem of an invalid skill as one item of a list', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'tables'))
  await writeFile(join(folder, 'tables', 'SKILL.md'), '---\nname: tables\ndescription: 7\nlicense: 8\n---\n')
  const thrown = await readSkills([folder], folder, noLog).catch((error: unknown) => error)
  const lines = stripVTControlCharacters(formatCheck(failed('Skills', thrown))).split('\n')
  expect(lines[0]).toMatch(/^error Skills: .*SKILL\.md: has an invalid frontmatter:$/)
  expect(lines.slice(1)).toEqual([
    expect.stringMatching(/^ {6}- description: /),
    expect.stringMatching(/^ {6}- license: /),
    '      → docs/guides/skills.md describes the format.',
  ])
})
