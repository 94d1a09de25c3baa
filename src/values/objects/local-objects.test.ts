import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import { LocalObjects } from './local-objects.js'

it('an object is created although unfinished ones are removed at the same time', async () => {
  const objects = new LocalObjects(await temporaryFolder())
  const { signal } = new AbortController()
  for (let index = 0; index < 30; index += 1) {
    const removing = async (): Promise<void> => {
      for (let count = 0; count < 10; count += 1) await objects.removeUnfinished('a', 0, signal)
    }
    const [isCreated] = await Promise.all([objects.create(`a/${index}`, Buffer.from('x'), signal), removing()])
    expect(isCreated).toBe(true)
  }
  expect(await objects.list('a', signal)).toHaveLength(30)
})
