import { MockActivityEnvironment } from '@temporalio/testing'
import { expect, it } from 'vitest'
import type { BudgetPause } from '../common/budget/budget.js'
import type { StreamPublisher } from '../stream/index.js'
import { announcePause } from './announce.js'

it('the live stream gets the item of the budget and its amount, once for each pause', async () => {
  const published: object[] = []
  const stream = {
    attempt:
      ({ unit }: { readonly unit: string }) =>
      (data: object) =>
        void published.push({ unit, ...data }),
  } as unknown as StreamPublisher
  const announce = (pause: BudgetPause, to: StreamPublisher | undefined) =>
    new MockActivityEnvironment().run(() => announcePause({ stream: to })(pause))
  await announce({ item: 'turns', amount: 2, since: 7 }, stream)
  await announce({ item: 'costUsd', since: 8 }, stream)
  await announce({ item: 'turns', amount: 2, since: 9 }, undefined)
  expect(published).toEqual([
    { unit: 'pause/7', type: 'budget.spent', item: 'turns', amount: 2 },
    { unit: 'pause/8', type: 'budget.spent', item: 'costUsd' },
  ])
})
