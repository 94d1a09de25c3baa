import { expect, test } from 'vitest'
import { TailBuffer } from './tail-buffer.js'

test('TailBuffer keeps all bytes below the capacity', () => {
  const tail = new TailBuffer(8)
  tail.push(Buffer.from('abc'))
  expect(tail.toString()).toBe('abc')
})

test.each([1, 3, 7, 8, 9, 16, 100])('TailBuffer keeps the last 8 bytes of pieces of %i bytes', (size) => {
  const all = Buffer.from('0123456789'.repeat(30))
  const tail = new TailBuffer(8)
  for (let at = 0; at < all.length; at += size) tail.push(all.subarray(at, at + size))
  expect(tail.toString()).toBe('23456789')
  expect(tail.totalBytes).toBe(300)
})

test('TailBuffer keeps the last bytes of pieces of different sizes', () => {
  const tail = new TailBuffer(5)
  for (const piece of ['ab', '', 'cdefgh', 'i']) tail.push(Buffer.from(piece))
  expect(tail.toString()).toBe('efghi')
})

test('TailBuffer shows a character that is cut at the front as a replacement character', () => {
  const tail = new TailBuffer(3)
  tail.push(Buffer.from('éé'))
  expect(tail.toString()).toBe('\uFFFDé')
})
