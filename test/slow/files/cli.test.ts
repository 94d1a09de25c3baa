import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { projectOf } from '../../support/cli/project-of.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'

const program = `
import os
os.makedirs("/tmp/out/deep")
open("/tmp/out/a.txt", "w").write("a")
open("/tmp/out/deep/b.bin", "wb").write(bytes(range(256)))
await slow()`

describeDocker('ptc files', () => {
  it('ptc files puts files into a running run, and gets one artifact or all', async () => {
    const [called, released] = [new Deferred(), new Deferred<number>()]
    const slow = tool('slow', () => {
      called.resolve()
      return released.promise
    })
    const env = await TestEnvironment.start({ backend: 'docker', tools: [slow] })
    await using project = await projectOf(env, { 'one.txt': '1', 'two.txt': '2' })
    const files = (...options: readonly string[]) => project.run('files', ...options)
    const run = await env.ptc.startProgram({ source: program, files: [] })
    const id = run.workflowId
    await called.promise

    expect(await files('list', id, '-c', 'ptc.config.mjs')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: `run ${id} has no files\n`,
    })
    expect(await files('put', id, 'one.txt', 'two.txt')).toMatchObject({
      code: 0,
      stderr: `run ${id} has /tmp/in/one.txt\nrun ${id} has /tmp/in/two.txt\n`,
    })
    const three = await project.start('files', 'put', id, '-', '--as', 'sub/three.txt', '--json').input('3').result
    expect(three.code).toBe(0)
    expect(JSON.parse(three.stdout)).toMatchObject([
      { path: '/tmp/in/sub/three.txt', bytes: 1, mediaType: 'text/plain' },
    ])
    for (const [ptcArguments, code, message] of [
      [['put', id, 'nothing.txt'], 2, 'there is no file nothing.txt'],
      [['put', id, 'node_modules'], 2, 'node_modules is not a file'],
      [['put', id, '-'], 2, 'standard input has no name: give --as PATH'],
      [['put', id, 'one.txt', 'two.txt', '--as', 'x'], 2, '--as is the path of one file, not of several'],
      [['put', id, 'one.txt', '--as', '../x'], 2, 'the path "../x": it has an empty name, or a dot as one'],
      [['put', 'nobody', 'one.txt'], 1, 'there is no run nobody'],
      [['get', 'nobody', 'x'], 1, 'there is no run nobody'],
      [['get', id], 2, 'a path is missing: give the path of a file, or --all FOLDER'],
      [['get', id, 'x', '--all', 'y'], 2, 'with --all, x is not needed'],
      [
        ['get', id, 'x.png'],
        1,
        `run ${id} has no file x.png\nIt has /tmp/in/one.txt, /tmp/in/two.txt, /tmp/in/sub/three.txt.`,
      ],
    ] as const) {
      const result = await files(...ptcArguments)
      expect(result, ptcArguments.join(' ')).toMatchObject({ code, stdout: '' })
      expect(result.stderr).toContain(message)
    }

    released.resolve(1)
    expect(await run.result()).toMatchObject({ outcome: { status: 'ok' } })
    expect(await files('get', id, 'deep/b.bin')).toMatchObject({ code: 0, stdout: 'b.bin\n' })
    expect(await readFile(join(project.folder, 'b.bin'))).toEqual(Buffer.from(Array.from({ length: 256 }, (_, n) => n)))
    expect(await files('get', id, '--all', 'results')).toMatchObject({
      code: 0,
      stdout: `${join('results', 'a.txt')}\n${join('results', 'deep', 'b.bin')}\n`,
    })
    expect(await readdir(join(project.folder, 'results'), { recursive: true })).toEqual(['a.txt', 'deep', 'deep/b.bin'])
    for (const [ptcArguments, code, message] of [
      [['get', id, '--all', 'results'], 2, 'results is not empty'],
      [['get', id, '--all', 'one.txt'], 2, "can't write to one.txt"],
      [['get', id, 'a.txt', 'nowhere/a.txt'], 2, "can't write nowhere/a.txt: there is no such folder"],
      [['put', id, 'one.txt'], 1, `run ${id} has already ended (completed)`],
    ] as const) {
      const result = await files(...ptcArguments)
      expect(result, ptcArguments.join(' ')).toMatchObject({ code, stdout: '' })
      expect(result.stderr).toContain(message)
    }
    expect(await readdir(project.folder)).not.toContainEqual(expect.stringContaining('.part'))
    const early = await project.runInShell('"$@" | head -c 1', ['files', 'get', id, 'deep/b.bin', '-'])
    expect(early).toMatchObject({ code: 0, stderr: '' })

    await env.workers.stop()
    expect(await files('get', id, 'a.txt', '-')).toMatchObject({ code: 0, stdout: 'a' })
  })

  it('a file whose stored bytes are gone or changed is not downloaded', async () => {
    const env = await TestEnvironment.start({ backend: 'docker', tools: [] })
    await using project = await projectOf(env)
    const run = await env.ptc.startProgram({
      source:
        'import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/a.bin", "wb").write(os.urandom(5_000))',
      files: [],
    })
    await run.result()
    const [file] = await run.files.list()
    const stored = JSON.stringify(file?.parts).match(/[0-9a-f]{64}/)?.[0] ?? ''
    const [path = ''] = (await readdir(env.valuesDirectory, { recursive: true })).filter((each) =>
      each.includes(stored),
    )
    await writeFile(join(env.valuesDirectory, path), 'changed')
    const got = await project.run('files', 'get', run.workflowId, 'a.bin')
    expect(got).toMatchObject({ code: 1, stdout: '' })
    expect(got.stderr).toMatch(/^ptc: file \/tmp\/out\/a\.bin was changed in the value store/)
    expect(await readdir(project.folder)).not.toContainEqual(expect.stringContaining('a.bin'))
  })

  it('a run in a sandbox without files says so', async () => {
    const env = await TestEnvironment.start({ backend: 'wasm', tools: [] })
    await using project = await projectOf(env, { 'table.csv': 'n\n', 'p.js': 'console.log(1)' })
    const id = uniqueName('run')
    const ran = await project.run('exec', '--id', id, '--upload', 'table.csv', 'p.js')
    expect(ran).toMatchObject({ code: 1, stdout: '' })
    expect(ran.stderr).toContain("code in javascript can't have files in the sandbox wasm")
  })
})
