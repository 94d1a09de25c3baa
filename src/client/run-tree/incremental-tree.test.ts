import { describe, expect, test } from 'vitest'
import { recordedEvents, recordedNames, treeOf } from '../../../test/fixtures/run-tree/recorded.js'
import { RunTreeBuilder } from './run-tree-builder.js'

describe('a builder that is asked for a tree after each event', () => {
  test.each(recordedNames)(
    'a builder that is asked after each event has the tree of all events so far: %s',
    async (name) => {
      const events = recordedEvents(name)
      const builder = new RunTreeBuilder()
      for (const [index, event] of events.entries()) {
        await builder.add([event])
        expect(builder.tree()).toEqual(await treeOf(events.slice(0, index + 1)))
      }
    },
  )

  test('a builder keeps the nodes of calls that have ended', async () => {
    const events = recordedEvents('program')
    const builder = new RunTreeBuilder()
    const nodes = new Map<number, unknown>()
    for (const event of events) {
      await builder.add([event])
      for (const call of builder.tree().turns.flatMap(({ cells }) => cells.flatMap(({ calls }) => calls))) {
        nodes.set(call.position.index, call)
      }
    }
    const last = builder.tree().turns.flatMap(({ cells }) => cells.flatMap(({ calls }) => calls))
    expect(last.length).toBeGreaterThan(0)
    for (const call of last) expect(nodes.get(call.position.index)).toBe(call)
  })

  test('a builder makes no new tree before the next event', async () => {
    const builder = new RunTreeBuilder()
    const [first, ...others] = recordedEvents('program')
    await builder.add(first ? [first] : [])
    const tree = builder.tree()
    expect(builder.tree()).toBe(tree)
    await builder.add(others)
    expect(builder.tree()).not.toBe(tree)
    expect(builder.tree().status).toBe('completed')
  })
})
