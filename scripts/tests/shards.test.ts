import { readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createVitest } from 'vitest/node'
import { expectedSeconds, longestFirst, type TestFile, selectShard, withShard } from './shards.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const count = Number(/^const shards = (\d+)$/m.exec(readFileSync(`${root}scripts/tests/test-ci.mjs`, 'utf8'))?.[1])
const indices = Array.from({ length: count }, (_, place) => place + 1)

/** The files of all projects of vitest.config.ts. */
async function allFiles(): Promise<TestFile[]> {
  const vitest = await createVitest('test', { root, watch: false, reporters: [] })
  try {
    const specifications = await vitest.globTestSpecifications()
    return specifications.map(({ project, moduleId }) => ({ project: project.name, file: relative(root, moduleId) }))
  } finally {
    await vitest.close()
  }
}

const files = await allFiles()
const inEach = files.filter(
  ({ project, file }) =>
    (['unit', 'unit-isolated', 'integration', 'attacks'].includes(project) && !file.startsWith('test/attacks/slow/')) ||
    file === 'test/integration/runs/modes/mode-control.test.ts',
)

const nameOf = ({ project, file }: TestFile): string => `${project} ${file}`

it('every shard has all unit and integration tests, the short attacks, and the proof of each mode', () => {
  for (const index of indices) {
    const names = new Set(withShard(files, index, count).map(nameOf))
    expect(inEach.filter((file) => !names.has(nameOf(file)))).toEqual([])
  }
})

it('every other file is in exactly one shard', () => {
  const shards = indices.map((index) => selectShard(files, index, count))
  expect(longestFirst([...inEach, ...shards.flat()])).toEqual(longestFirst(files))
})

it('shards take about the same time, except for a file that alone takes longer', () => {
  const shards = indices.map((index) => selectShard(files, index, count))
  const secondsOf = (shard: readonly TestFile[]) => shard.reduce((total, file) => total + expectedSeconds(file), 0)
  const shortest = Math.min(...shards.map(secondsOf))
  const longest = Math.max(...shards.filter(({ length }) => length > 1).map(secondsOf))
  expect(longest).toBeLessThan(1.3 * shortest)
})

it('shards do not depend on the order of the files', () => {
  for (const index of indices)
    expect(selectShard(files.toReversed(), index, count)).toEqual(selectShard(files, index, count))
})

it('every test file belongs to a project', () => {
  const found = ['src', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  )
  const tests = found.filter((path) => path.endsWith('.test.ts'))
  expect([...new Set(files.map(({ file }) => file))].toSorted()).toEqual(tests.toSorted())
})
