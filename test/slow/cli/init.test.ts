import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'

const writtenFiles = ['.env.example', '.gitignore', 'package.json', 'ptc.config.ts', 'scripted-model.json']

describe('ptc init', () => {
  it('ptc init writes a project that runs without an API key, and says that the model is scripted', async () => {
    await using project = await TestProject.create({ 'total.py': 'print(sum(await get_expenses(employee="ada")))' })
    const init = await project.run('init')
    expect(init).toMatchObject({ code: 0, stderr: '' })
    // The node_modules of the test has zod, and not durable-ptc.
    expect(init.stdout).toMatch(/^wrote ptc\.config\.ts$[^]*^Next:\n {2}npm install\n {2}npx ptc run "Who spent more/m)
    const dev = project.start('dev', '--sandbox', 'wasm')
    await dev.waitForOutput(/^Model +no API key was found, so a scripted model replies[^]*Ready\./m, 'stdout')

    expect(await project.run('exec', 'total.py')).toMatchObject({ code: 0, stdout: '6340\n' })

    const { code, stdout, stderr } = await project.run('run', 'Who spent more than 5,000 EUR on travel?', '--id', 'who')
    expect(stderr).toMatch(/^model: a scripted model replies, because the worker found no API key$/m)
    expect(stdout).toMatch(/^ada 6340 EUR\n\(A scripted model replied, because no API key was found\./)
    expect(code).toBe(0)
    expect((await project.run('show', 'who')).stdout).toContain('scripted (no API key)')

    const chat = await project.start('chat', 'books').input('Who was it?\nAnd who else?\n').result
    expect(chat).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ada 6340 EUR\n.*\nada 6340 EUR\n/) })

    const named = await project.run('run', 'why?', '--model', 'claude-sonnet-5-5')
    expect(named.stderr).toContain('There is no API key for the model')
    expect(named).toMatchObject({ code: 1, stdout: '' })
  })

  it('ptc init creates the folder, and prints the commands for it', async () => {
    await using project = await TestProject.create({})
    const { code, stdout } = await project.run('init', 'My Project')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^wrote My Project\/package\.json$[^]*^ {2}cd 'My Project'\n {2}npm install\n {2}npx ptc run/m,
    )
    const folder = join(project.folder, 'My Project')
    expect((await readdir(folder)).sort()).toEqual(writtenFiles)
    const { dependencies } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    expect(JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))).toEqual({
      name: 'my-project',
      private: true,
      type: 'module',
      dependencies: { 'durable-ptc': expect.stringMatching(/^\^\d/), zod: dependencies['zod'] },
    })
  })

  it('ptc init refuses to overwrite, names the files, and writes nothing', async () => {
    await using project = await TestProject.create({ '.gitignore': 'mine\n', 'ptc.config.mjs': 'export default {}' })
    const { code, stdout, stderr } = await project.run('init')
    expect(stderr).toContain('ptc: this folder has .gitignore, ptc.config.mjs already')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect((await readdir(project.folder)).sort()).toEqual(['.gitignore', 'node_modules', 'ptc.config.mjs'])
  })

  it('ptc init keeps the package.json of the folder', async () => {
    await using project = await TestProject.create({ 'package.json': '{"name":"mine"}' })
    expect((await project.run('init')).stdout).not.toContain('package.json')
    expect(await readFile(join(project.folder, 'package.json'), 'utf8')).toBe('{"name":"mine"}')
    const again = await project.run('init')
    expect(again.stderr).toContain('has ptc.config.ts, scripted-model.json, .env.example, .gitignore already')
    expect(again.code).toBe(2)
  })

  it('ptc init refuses a path that is a file', async () => {
    await using project = await TestProject.create({ taken: '' })
    const { code, stderr } = await project.run('init', 'taken')
    expect(stderr).toMatch(/^ptc: can't write to taken: /)
    expect(code).toBe(2)
  })
})

describe('.env', () => {
  it('.env sets variables before the configuration is loaded', async () => {
    const config = `export default { tools: [], taskQueue: process.env.QUEUE_OF_FILE ?? '' }`
    await using project = await TestProject.create({ 'ptc.config.ts': config, '.env': 'QUEUE_OF_FILE=from-file\n' })
    expect((await project.run('doctor')).stdout).toMatch(/^ok +Configuration: /m)
    await project.write('.env', '')
    expect((await project.run('doctor')).stdout).toMatch(/^error +Configuration: [^]*taskQueue/m)
  })
})
