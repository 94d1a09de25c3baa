import { expect, it } from 'vitest'
import { deferred } from './deferred.js'
import { ConcurrencyLimit } from './concurrency-limit.js'

it('the maximum number of tasks of a key runs at once, and others run in order, also after a failure', async () => {
  const limit = new ConcurrencyLimit(2)
  const started: string[] = []
  const release = deferred<undefined>()
  const task = (name: string) => async () => {
    started.push(name)
    await release.promise
    if (name === 'a1') throw new Error(name)
    return name
  }
  const tasks = ['a1', 'a2', 'a3', 'b1', 'a4'].map((name) => limit.run(task(name), name.slice(0, 1)))
  const settled = Promise.allSettled(tasks)
  expect(started).toEqual(['a1', 'a2', 'b1'])
  release.resolve(undefined)
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', ...Array<string>(4).fill('fulfilled')])
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})
