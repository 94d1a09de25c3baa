import type { History } from '../../support/environment/histories.js'

/** Seconds for which a continue-as-new waits for running calls; after that the run stays in its history. */
const drainSeconds = 10

/** Whether a history ended in the middle of a cell: then the next history does not begin with a model turn. */
export function isContinuedDuringCell([, ...later]: readonly History[]): boolean {
  return later.some(({ events }) => {
    const [first] = events.flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType ?? [])
    return first !== undefined && first.name !== 'model.turn'
  })
}

/**
 * Whether a call ran too long for a continue-as-new, for example when its worker died and the next one starts slowly.
 */
export function hasContinueAsNewTimedOut(chain: readonly History[]): boolean {
  return chain.some(({ events }) => {
    const timers = events.flatMap(({ timerStartedEventAttributes: timer }) =>
      Number(timer?.startToFireTimeout?.seconds) === drainSeconds ? [timer?.timerId] : [],
    )
    return events.some(({ timerFiredEventAttributes: fired }) => fired && timers.includes(fired.timerId))
  })
}
