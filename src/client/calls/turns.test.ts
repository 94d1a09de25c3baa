import { expect, it } from 'vitest'
import { Deferred } from '../../../test/support/tools.js'
import { Turns } from './turns.js'

it('the maximum number of tasks of a key runs at once, and others run in order, also after a failure', async () => {
  const turns = new Turns(2)
  const started: string[] = []
  const release = new Deferred()
  const task = (name: string) => async () => {
    started.push(name)
    await release.promise
    if (name === 'a1') throw new Error(name)
    return name
  }
  const tasks = ['a1', 'a2', 'a3', 'b1', 'a4'].map((name) => turns.run(name.slice(0, 1), task(name)))
  const settled = Promise.allSettled(tasks)
  expect(started).toEqual(['a1', 'a2', 'b1'])
  release.resolve()
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', ...Array<string>(4).fill('fulfilled')])
  expect(started).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
})
