import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadTasks } from './load-tasks.js'
import { scriptOf } from './task-script.js'

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-tasks-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}

const noModules = () => Promise.reject(new Error('no module is expected'))

async function load(
  files: Readonly<Record<string, string>>,
  importModule: Parameters<typeof loadTasks>[0]['importModule'] = noModules,
) {
  const baseDirectory = await folderOf(files)
  return loadTasks({ paths: ['.'], importModule, baseDirectory })
}

const minimal = 'prompt: What is it?\ncheck: [{ equals: 42 }]\n'

test('a task needs a question and a check; everything else has a default', async () => {
  const [task] = await load({ 'answer/task.yaml': minimal })
  expect(task).toMatchObject({ name: 'answer', prompt: 'What is it?', limits: { turns: 25, seconds: 600 }, tags: [] })
  expect(task?.digest).toMatch(/^[0-9a-f]{32}$/)
})

test('a folder has tasks in files and in folders, and files of tasks become input data', async () => {
  const tasks = await load({
    'one.yaml': minimal,
    'two/task.yaml': `${minimal}setup: { files: [a.txt] }\n`,
    'two/a.txt': 'content',
    'three/task.json': JSON.stringify({ prompt: 'x', check: [{ matches: '^x' }], setup: { inputFile: 'b.json' } }),
    'three/b.json': '[1]',
    'no-task/readme.md': '',
  })
  expect(tasks.map(({ name, inputData }) => [name, inputData])).toEqual([
    ['one', undefined],
    ['three', [1]],
    ['two', { 'a.txt': 'content' }],
  ])
})

test('each problem of each file is named with its line and field, in one error', async () => {
  const loading = load({
    'a.yaml': 'prompt: x\ncheck:\n  - equals: 1\n    contains: y\n',
    'b.yaml': 'prompt: x\nchek:\n  - equals: 1\n',
    'c.yaml': 'prompt: x\ncheck:\n  - { number: { value: one } }\nlimits:\n  turns: 0\n',
    'd.yaml': 'prompt: "x\n',
    'e.yaml': `${minimal}setup: { inputFile: missing.json }\n`,
    'f.yaml': `${minimal}setup: { inputFile: ../../secret.json }\n`,
    'g.yaml': '- a list\n',
    'h.yaml': 'prompt: x\ncheck:\n  - matches: "("\n',
    'j.yaml': 'prompt: { a: 1 }\ncheck:\n  - contains: [1, []]\n',
    'i.yaml': `${minimal}answers:\n  - { tool: pay, approve: true, deny: no }\n`,
  })
  await expect(loading).rejects.toMatchObject({ code: 'EVAL_TASK_INVALID' })
  const message = await loading.catch((thrown: unknown) => (thrown as Error).message)
  expect(message).toContain('a.yaml:3: check.0: has 2 conditions (equals, contains)')
  expect(message).toMatch(/b\.yaml:1: check: Invalid input/)
  expect(message).toMatch(/b\.yaml:3: Unrecognized key: "chek".*check/)
  expect(message).toMatch(/c\.yaml:3: check\.0\.number\.value: /)
  expect(message).toMatch(/c\.yaml:5: limits\.turns: /)
  expect(message).toMatch(/d\.yaml:\d: Missing closing/)
  expect(message).toContain('e.yaml: missing.json: there is no such file')
  expect(message).toContain('f.yaml:3: setup.inputFile: must be a path inside of the folder of the task')
  expect(message).toContain('g.yaml:1: a task is an object')
  expect(message).toContain('h.yaml:3: check.0.matches: is not a regular expression')
  expect(message).toContain('j.yaml:1: prompt: must be a text, or a list of up to 20 texts')
  expect(message).toContain('j.yaml:3: check.0.contains: must be a text, or a list of texts')
  expect(message).toContain('i.yaml:4: answers.0: needs exactly one of approve, deny, result, fail')
})

test('a path without a task, and two tasks of one name, are problems', async () => {
  const baseDirectory = await folderOf({
    'a/task.yaml': `name: same\n${minimal}`,
    'b/task.yaml': `name: same\n${minimal}`,
    'c/x.md': '',
  })
  const options = { importModule: noModules, baseDirectory }
  await expect(loadTasks({ ...options, paths: ['a', 'b'] })).rejects.toThrow(
    'b/task.yaml: name: a/task.yaml has the same name, same',
  )
  await expect(loadTasks({ ...options, paths: ['c', 'd'] })).rejects.toThrow(
    /c: it has no task[^]*d: there is no such file/,
  )
  expect(await loadTasks({ ...options, paths: ['a', 'a/task.yaml'] })).toHaveLength(1)
})

test('a task with aliases that expand without end is refused', async () => {
  const bomb = [
    'a0: &a0 [x, x]',
    ...Array.from({ length: 30 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}]`),
  ].join('\n')
  await expect(load({ 'bomb.yaml': bomb })).rejects.toThrow(/bomb\.yaml: .*alias/i)
})

test('the digest of a task changes with each file of its folder', async () => {
  const digestOf = async (tools: string) => (await load({ 't/task.yaml': minimal, 't/tools.ts': tools }))[0]?.digest
  expect(await digestOf('1')).toBe(await digestOf('1'))
  expect(await digestOf('1')).not.toBe(await digestOf('2'))
})

test('a check module must export its function, and a module that does not load is a problem of its task', async () => {
  const files = { 't/task.yaml': 'prompt: x\ncheck: [{ module: { file: check.ts } }]\n', 't/check.ts': '' }
  await expect(load(files, () => Promise.resolve({ other: 1 }))).rejects.toThrow(
    't/task.yaml: check.0.module: check.ts exports no function check',
  )
  await expect(load(files, () => Promise.reject(new Error('broken')))).rejects.toThrow(
    "check.ts can't be loaded: broken",
  )
})

test('a script is for the question of its task, after conversations that name their own', async () => {
  const tasks = await load({
    't/task.yaml': `${minimal}scripts: { solution: s.yaml }\n`,
    't/s.yaml': 'conversations:\n  - turns: [1]\n  - { match: { firstUserText: judge }, turns: [2] }\n',
    'u/task.yaml': 'prompt: Other?\ncheck: [{ equals: 1 }]\nscripts: { solution: s.json }\n',
    'u/s.json': '[3]',
  })
  expect(scriptOf(tasks, 'solution')).toEqual({
    conversations: [
      { match: { firstUserText: 'judge' }, turns: [2] },
      { match: { firstUserText: { includes: 'What is it?' } }, turns: [1] },
      { match: { firstUserText: { includes: 'Other?' } }, turns: [3] },
    ],
  })
  expect(() => scriptOf(tasks, 'wrong')).toThrow('task t has no script wrong\ntask u has no script wrong')
})
