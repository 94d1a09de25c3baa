import type { Client } from '@temporalio/client'
import { expect, it } from 'vitest'
import { waitsOfRuns } from './open-waits.js'

it.each([0, 1.5, Number.NaN])('a list of waits refuses the limit %d, and sends no request', async (limit) => {
  const waits = waitsOfRuns({} as Client, 'q', () => Promise.reject(new Error('read')), { limit })
  await expect(waits).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
})
