import { expect, test } from 'vitest'
import { placesOf } from './search.js'

/** All texts of these letters of up to a length. */
function textsOf(letters: string, length: number): readonly string[] {
  if (length === 0) return ['']
  const shorter = textsOf(letters, length - 1)
  const longest = shorter.filter((text) => text.length === length - 1)
  return [...shorter, ...longest.flatMap((text) => letters.split('').map((letter) => text + letter))]
}

test('the search finds the places that indexOf finds, overlapping ones included', () => {
  for (const text of textsOf('ab', 9)) {
    for (const searched of textsOf('ab', 4).slice(1)) {
      const expected: number[] = []
      for (let at = text.indexOf(searched); at !== -1; at = text.indexOf(searched, at + 1)) expected.push(at)
      if (placesOf(text, searched, 100).join() !== expected.join()) expect([text, searched]).toEqual([])
      if (placesOf(text, searched, 2).join() !== expected.slice(0, 2).join()) expect([text, searched, 2]).toEqual([])
    }
  }
})

test('the search takes linear time where that of JavaScript blocks the worker for many seconds', () => {
  const text = 'a'.repeat(1024 * 1024)
  const half = 'a'.repeat(100_000)
  const before = process.cpuUsage()
  expect(placesOf(text, `${half}b${half}`, 21)).toEqual([])
  const { user } = process.cpuUsage(before)
  expect(user / 1_000).toBeLessThan(5_000)
})
