import { setHandler, type SignalDefinition, TemporalFailure } from '@temporalio/workflow'

/**
 * Handles a signal. Any client may send one, with any content, and the server delivers it again with each workflow
 * task: an error of the handler would fail all of them. So a signal is dropped when its handler can't read it.
 */
export function handleSignal<Args extends unknown[]>(
  definition: SignalDefinition<Args>,
  handler: (...args: Args) => void | Promise<void>,
): void {
  setHandler(definition, (...args: Args) => {
    try {
      return handler(...args)?.catch(dropUnreadable)
    } catch (thrown) {
      return dropUnreadable(thrown)
    }
  })
}

function dropUnreadable(thrown: unknown): void {
  if (thrown instanceof TemporalFailure) throw thrown
}
