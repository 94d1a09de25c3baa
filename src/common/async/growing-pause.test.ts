import { expect, it } from 'vitest'
import { pauseAfter } from './growing-pause.js'

it('a pause follows a failure, grows with each further one, and has a longest length', () => {
  const pauses = [0, 1, 2, 3, 4, 5_000].map((failures) => pauseAfter(failures, { firstMs: 500, longestMs: 3_000 }))
  expect(pauses).toEqual([0, 500, 1_000, 2_000, 3_000, 3_000])
})
