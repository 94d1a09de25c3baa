import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runnerDirectory } from '../../runner-directory.js'
import { readImageSource } from './image-source.js'

function copyOfRunner(): string {
  const directory = mkdtempSync(join(tmpdir(), 'ptc-source-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  cpSync(runnerDirectory, directory, { recursive: true })
  return directory
}

test('the same files give the same image name in any folder', () => {
  expect(readImageSource(copyOfRunner()).tag).toBe(readImageSource(runnerDirectory).tag)
})

test.each(['python/runner.py', 'image/Dockerfile', 'image/supervisor.c', 'python/new.py'])(
  'a change of %s gives another image name',
  (file) => {
    const directory = copyOfRunner()
    const before = readImageSource(directory)
    writeFileSync(join(directory, file), 'changed')
    expect(readImageSource(directory).tag).not.toBe(before.tag)
  },
)

test('another base gives another image name', () => {
  const tags = [undefined, 'debian:bookworm', 'python-numpy:1'].map(
    (base) => readImageSource(runnerDirectory, base).tag,
  )
  expect(new Set(tags).size).toBe(3)
})

test('files that Python generates do not change the image name', () => {
  const directory = copyOfRunner()
  const before = readImageSource(directory)
  writeFileSync(join(directory, 'python/runner.pyc'), 'bytecode')
  expect(readImageSource(directory)).toEqual(before)
})
