import { expect, test } from 'vitest'
import { Tail } from './tail.js'

test('the tail of little is all of it', () => {
  const tail = new Tail(8)
  tail.push(Buffer.from('abc'))
  expect(tail.toString()).toBe('abc')
})

test.each([1, 3, 7, 8, 9, 16, 100])('the last 8 bytes are kept when they come in pieces of %i', (size) => {
  const all = Buffer.from('0123456789'.repeat(30))
  const tail = new Tail(8)
  for (let at = 0; at < all.length; at += size) tail.push(all.subarray(at, at + size))
  expect(tail.toString()).toBe('23456789')
  expect(tail.total).toBe(300)
})

test('keeps the last bytes, however they arrive', () => {
  const tail = new Tail(5)
  for (const piece of ['ab', '', 'cdefgh', 'i']) tail.push(Buffer.from(piece))
  expect(tail.toString()).toBe('efghi')
})

test('a character cut in half at the front is shown as such, not thrown', () => {
  const tail = new Tail(3)
  tail.push(Buffer.from('éé'))
  expect(tail.toString()).toBe('\uFFFDé')
})
