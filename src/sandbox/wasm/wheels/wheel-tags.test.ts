import { expect, test } from 'vitest'
import { problemOfTags } from './wheel-tags.js'

const platform = { python: [3, 14], abi: '2026_0' } as const

test.each([
  'six-1.17.0-py2.py3-none-any.whl',
  'pydantic-2.13.0-py3-none-any.whl',
  'backport-1.0-py310-none-any.whl',
  'pure-1.0-cp314-none-any.whl',
  'pydantic_core-2.50.5-cp314-cp314-pyemscripten_2026_0_wasm32.whl',
  'stable-1.0-1-cp310-abi3-pyemscripten_2026_0_wasm32.whl',
  'older-1.0-cp314-cp314-pyodide_2026_0_wasm32.whl',
  'data-1.0-py3-none-pyemscripten_2026_0_wasm32.whl',
])('the interpreter can load %s', (file) => {
  expect(problemOfTags(file, platform).problem).toBeUndefined()
})

test.each([
  ['numpy-2.0-cp314-cp314-manylinux_2_17_x86_64.whl', 'it is for manylinux_2_17_x86_64, and the embedded sandbox is'],
  ['numpy-2.0-cp313-cp313-pyodide_2025_0_wasm32.whl', 'it is for pyodide_2025_0_wasm32, and the embedded sandbox is'],
  [
    'numpy-2.0-cp313-cp313-pyemscripten_2026_0_wasm32.whl',
    'it is for cp313-cp313, and the embedded sandbox has Python',
  ],
  ['later-1.0-py315-none-any.whl', 'it is for py315-none'],
  ['later-1.0-cp315-abi3-pyemscripten_2026_0_wasm32.whl', 'it is for cp315-abi3'],
  ['old-1.0-py2-none-any.whl', 'it is for py2-none'],
  ['odd-1.0-cp314-cp314-any.whl', 'it is for cp314-cp314'],
  ['nothing.whl', 'its name is not that of a wheel'],
  ['../six-1.17.0-py3-none-any.whl', 'its name is not that of a wheel'],
])('%s is refused', (file, problem) => {
  expect(problemOfTags(file, platform).problem).toContain(problem)
})

test('names that pip takes for the same package are the same', () => {
  const [one, other] = ['Foo_Bar-1.0-py3-none-any.whl', 'foo.bar-2.0-py3-none-any.whl']
  expect(problemOfTags(one, platform).distribution).toBe(problemOfTags(other, platform).distribution)
})
