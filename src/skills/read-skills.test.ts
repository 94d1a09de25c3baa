import { execFileSync } from 'node:child_process'
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folders.js'
import { skillsFolder, skillText } from '../../test/support/skills/skill-folder.js'
import { noLog } from '../tools/sources/tool-source.js'
import { skillLimits } from './limits.js'
import { readSkills } from './read-skills.js'

async function read(...folders: readonly string[]) {
  const warnings: string[] = []
  const skills = await readSkills(folders, '/', { ...noLog, warn: (line) => void warnings.push(line) })
  return { skills, warnings }
}

const a = { 'a/SKILL.md': skillText('a') }

it('the skills of a folder are in the order of their names, with their files', async () => {
  const folder = await skillsFolder({
    'b/SKILL.md': skillText('b', 'Run it.'),
    'b/scripts/run.sh': 'echo',
    'b/references/deep/x.md': 'x',
    ...a,
    'README.md': 'not a skill',
  })
  const { skills, warnings } = await read(folder)
  expect(skills.map(({ name, instructions }) => [name, instructions])).toEqual([
    ['a', 'Do it.'],
    ['b', 'Run it.'],
  ])
  expect(skills[0]?.files).toEqual([])
  expect(skills[1]?.files.map(({ path, isExecutable }) => [path, isExecutable])).toEqual([
    ['b/SKILL.md', false],
    ['b/references/deep/x.md', false],
    ['b/scripts/run.sh', true],
  ])
  expect(warnings).toEqual([])
})

it('a folder may be a skill itself, and several folders add up', async () => {
  const [one, other] = [await skillsFolder(a), await skillsFolder({ 'b/SKILL.md': skillText('b') })]
  const { skills } = await read(join(one, 'a'), other)
  expect(skills.map(({ name }) => name)).toEqual(['a', 'b'])
})

it('the digest of a skill changes with each content, path and mode', async () => {
  const digestOf = async (files: Readonly<Record<string, string>>) =>
    (await read(await skillsFolder({ ...a, ...files }))).skills[0]?.digest
  const digests = await Promise.all([
    digestOf({}),
    digestOf({ 'a/x': '1' }),
    digestOf({ 'a/x': '2' }),
    digestOf({ 'a/y': '1' }),
    digestOf({ 'a/x1': '' }),
    digestOf({ 'a/scripts/x': '1' }),
  ])
  expect(new Set(digests).size).toBe(digests.length)
  expect(await digestOf({ 'a/x': '1' })).toBe(digests[1])
})

it('settings of editors, version control and caches are left out', async () => {
  const folder = await skillsFolder({
    ...a,
    'a/.git/config': 'x',
    'a/.DS_Store': 'x',
    'a/__pycache__/x.pyc': 'x',
    'a/lib/x.py': 'x',
    '.git/SKILL.md': 'x',
  })
  const { skills } = await read(folder)
  expect(skills[0]?.files.map(({ path }) => path)).toEqual(['a/SKILL.md', 'a/lib/x.py'])
})

it('a folder without SKILL.md is no skill, and is reported', async () => {
  const { skills, warnings } = await read(await skillsFolder({ ...a, 'template/x.md': 'x' }))
  expect(skills).toHaveLength(1)
  expect(warnings).toEqual([expect.stringContaining('template has no SKILL.md')])
})

const outside = async (): Promise<string> => join(await skillsFolder({ 'secret.txt': 'secret' }), 'secret.txt')

it.each<[string, (folder: string) => Promise<unknown>, string]>([
  ['a link to a file', async (folder) => symlink(await outside(), join(folder, 'a/x')), 'is a link'],
  ['a link within the skill', (folder) => symlink('SKILL.md', join(folder, 'a/x')), 'is a link'],
  ['a link to a folder', (folder) => symlink('/etc', join(folder, 'a/etc')), 'is a link'],
  ['a link that leads nowhere', (folder) => symlink('/nowhere', join(folder, 'a/x')), 'is a link'],
  ['a link as a skill', (folder) => symlink(join(folder, 'a'), join(folder, 'b')), 'is a link'],
  [
    'a link as SKILL.md',
    async (folder) => {
      await mkdir(join(folder, 'b'))
      await symlink(join(folder, 'a/SKILL.md'), join(folder, 'b/SKILL.md'))
    },
    'is a link',
  ],
  ['a pipe', (folder) => Promise.resolve(execFileSync('mkfifo', [join(folder, 'a/x')])), 'is a special file'],
  ['a folder as SKILL.md', (folder) => mkdir(join(folder, 'b/SKILL.md'), { recursive: true }), 'is missing'],
  ['another name', (folder) => rename(join(folder, 'a'), join(folder, 'b')), 'its name "a" is not that of its folder'],
  [
    'a name in another case',
    (folder) => rename(join(folder, 'a/SKILL.md'), join(folder, 'a/skill.md')),
    'must be named',
  ],
  ['a backslash in a name', (folder) => writeFile(join(folder, 'a/x\\y'), ''), 'backslash'],
  ['a line end in a name', (folder) => writeFile(join(folder, 'a/x\ny'), ''), 'can not be seen'],
  ['a mark of direction in a name', (folder) => writeFile(join(folder, 'a/x\u202ey'), ''), 'can not be seen'],
  ['bytes that are not UTF-8', (folder) => writeFile(Buffer.from(`${folder}/a/\xff`, 'latin1'), ''), 'can not be seen'],
  ['a large file', (folder) => writeFile(join(folder, 'a/x'), Buffer.alloc(skillLimits.fileBytes + 1)), 'too large'],
  [
    'many bytes',
    (folder) =>
      Promise.all([1, 2, 3].map((name) => writeFile(join(folder, `a/${name}`), Buffer.alloc(skillLimits.fileBytes)))),
    'too large',
  ],
  [
    'many files',
    (folder) =>
      Promise.all(Array.from({ length: skillLimits.entries }, (_, index) => writeFile(join(folder, `a/${index}`), ''))),
    'more than 1000 files',
  ],
  [
    'a long path',
    (folder) => mkdir(join(folder, 'a', ...Array.from({ length: 3 }, () => 'x'.repeat(100))), { recursive: true }),
    'a path of more than 200 bytes',
  ],
])('a folder with %s is refused', async (_what, change, problem) => {
  const folder = await skillsFolder(a)
  await change(folder)
  await expect(read(folder)).rejects.toMatchObject({
    code: 'SKILL_INVALID',
    message: expect.stringContaining(problem),
  })
})

it('the skills that a published package contains are read', async () => {
  const folder = join(
    dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')),
    'lib/tools/skills',
  )
  const { skills, warnings } = await read(folder)
  expect(skills.map(({ name }) => name)).toContain('playwright-cli')
  expect(skills.find(({ name }) => name === 'playwright-cli')).toMatchObject({
    allowedTools: expect.arrayContaining([expect.stringMatching(/^Bash\(/)]) as string[],
    files: expect.arrayContaining([expect.objectContaining({ path: 'playwright-cli/SKILL.md' })]) as object[],
  })
  expect(warnings).toEqual([])
})

it('two skills with one name are refused, with both folders', async () => {
  const [one, other] = [await skillsFolder(a), await skillsFolder(a)]
  const failure = expect(read(one, other)).rejects
  await failure.toMatchObject({ code: 'SKILL_INVALID', message: expect.stringContaining(`the other is ${one}`) })
})

it('more skills than the limit are refused', async () => {
  const names = Array.from({ length: skillLimits.skills + 1 }, (_, index) => `s${index}`)
  const folder = await skillsFolder(Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillText(name)])))
  await expect(read(folder)).rejects.toThrow('at most 200 skills')
})

it('a folder that is not there is refused, and a folder of the configuration may be a link', async () => {
  const folder = await temporaryFolder()
  await expect(read(join(folder, 'missing'))).rejects.toMatchObject({ code: 'SKILL_INVALID' })
  await symlink(await skillsFolder(a), join(folder, 'linked'))
  expect((await read(join(folder, 'linked'))).skills).toHaveLength(1)
})
