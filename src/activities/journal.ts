import type { Chain } from '../common/chain.js'
import { crashPoint } from '../common/crash-point.js'
import type { RecordedStep, RecordedSteps } from '../common/steps.js'
import type { Values } from '../values/values.js'
import { appendToChain, readChain } from './chains.js'
import { inActivity } from './in-activity.js'

const journal = "the session's journal"

export interface AppendInput {
  readonly to: Chain | null
  readonly lists: readonly (readonly RecordedStep[])[]
}

/** Activity `journal.append`: keeps recorded steps, and gives the chain after each list. */
export function appendJournal(values: Values) {
  return ({ to, lists }: AppendInput): Promise<readonly Chain[]> =>
    inActivity(async ({ signal }) => {
      crashPoint('journal.begins')
      const chains: Chain[] = []
      for (const list of lists) chains.push(await appendToChain(values, chains.at(-1) ?? to, list, journal, signal))
      crashPoint('journal.kept')
      return chains
    })
}

/** Every step a session has been through, from the first that a snapshot does not stand for. */
export async function recordedSteps(
  values: Values,
  { earlier, latest, snapshot }: RecordedSteps,
  signal: AbortSignal,
): Promise<readonly RecordedStep[]> {
  const from = snapshot?.steps ?? 0
  const kept = await readChain<RecordedStep>(values, earlier, journal, signal, from)
  return [...kept, ...latest.slice(Math.max(from - (earlier?.items ?? 0), 0))]
}
