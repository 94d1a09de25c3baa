import { expect, it } from 'vitest'
import { foldersOf, isRelativePath, sandboxFiles } from './sandbox-files.js'

const file = (path: string, content = 'x', isExecutable = false) => ({
  path,
  content: Buffer.from(content),
  isExecutable,
})

it('equal files have equal digests in any order, and each difference changes the digest', () => {
  const { digest } = sandboxFiles([file('a'), file('b')])
  expect(sandboxFiles([file('b'), file('a')]).digest).toBe(digest)
  const others = [
    [file('a'), file('c')],
    [file('a'), file('b', 'y')],
    [file('a'), file('b', 'x', true)],
    [file('a', 'xx'), file('b', '')],
    [file('a')],
  ].map((files) => sandboxFiles(files).digest)
  expect(new Set([digest, ...others]).size).toBe(others.length + 1)
})

it.each(['', '/a', 'a/', 'a//b', '.', './a', 'a/../b', '..', 'a\\b', 'a\0b'])('the path %j is refused', (path) => {
  expect(isRelativePath(path)).toBe(false)
  expect(() => sandboxFiles([file(path)])).toThrow()
})

it('one path of two files is refused', () => {
  expect(() => sandboxFiles([file('a'), file('a', 'y')])).toThrow()
})

it('the folders of files are listed before those in them', () => {
  expect(foldersOf([file('b/c/x'), file('a'), file('b/y'), file('b/c/d/z')])).toEqual(['b', 'b/c', 'b/c/d'])
})
