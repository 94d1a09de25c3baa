import type { ValueLog } from '../../common/json/value-log.js'
import { failpoint } from '../../common/failpoint.js'
import type { AppendJournalInput, RecordedStep, RecordedSteps } from '../../common/session/steps.js'
import type { Values } from '../../values/values.js'
import { appendToLog, readLog } from '../../values/value-log.js'
import { type ActivityParts, runActivity } from '../run-activity.js'

const neededBy = "the session's journal"

/** Activity `journal.append`: appends batches of recorded steps, and returns the log after each batch. */
export function appendJournal({ values }: Pick<ActivityParts, 'values'>) {
  return ({ log, batches }: AppendJournalInput): Promise<readonly ValueLog[]> =>
    runActivity(async ({ signal }) => {
      failpoint('journal.begins')
      const logs: ValueLog[] = []
      for (const batch of batches) logs.push(await appendToLog(values, logs.at(-1) ?? log, batch, neededBy, signal))
      failpoint('journal.stored')
      return logs
    })
}

/** Loads the recorded steps that a rebuild repeats: all steps after the snapshot. */
export async function loadRecordedSteps(
  values: Values,
  { log, latest, snapshot }: RecordedSteps,
  signal: AbortSignal,
): Promise<readonly RecordedStep[]> {
  const from = snapshot?.steps ?? 0
  const stored = await readLog<RecordedStep>(values, log, neededBy, signal, from)
  return [...stored, ...latest.slice(Math.max(from - (log?.length ?? 0), 0))]
}
