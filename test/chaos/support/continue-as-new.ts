import type { History } from '../../support/environment/histories.js'

/** Seconds that a history which is to end waits for calls under way; then the run goes on in it. */
const drainSeconds = 10

/** Did a history end in the middle of a cell? One that ends between two turns is followed by the model. */
export function isContinuedDuringCell([, ...later]: readonly History[]): boolean {
  return later.some(({ events }) => {
    const [first] = events.flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType ?? [])
    return first !== undefined && first.name !== 'model.turn'
  })
}

/** Was a history to end, and could not, since a call took too long? So it is when its worker dies, and the next is slow to come. */
export function hasContinueAsNewTimedOut(chain: readonly History[]): boolean {
  return chain.some(({ events }) => {
    const timers = events.flatMap(({ timerStartedEventAttributes: timer }) =>
      Number(timer?.startToFireTimeout?.seconds) === drainSeconds ? [timer?.timerId] : [],
    )
    return events.some(({ timerFiredEventAttributes: fired }) => fired && timers.includes(fired.timerId))
  })
}
