import { expect, test } from 'vitest'
import { Tail } from './tail.js'

test('keeps the last bytes, however they arrive', () => {
  const tail = new Tail(5)
  for (const piece of ['ab', '', 'cdefgh', 'i']) tail.push(Buffer.from(piece))
  expect(tail.text).toBe('efghi')
})

test('a character cut in half at the front is shown as such, not thrown', () => {
  const tail = new Tail(3)
  tail.push(Buffer.from('éé'))
  expect(tail.text).toBe('\uFFFDé')
})
