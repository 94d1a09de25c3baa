import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { google } from '@temporalio/proto'
import { containersOf } from '../../support/environment/containers.js'
import { completedActivityCount, type History } from '../../support/environment/histories.js'
import type { LedgerEntry } from '../../support/ledger.js'

/** The effects and remains of one run, observed from outside. Uses no state of the project. */
export interface Verdict {
  /** Number of applied effects. */
  readonly effects: number
  /** Names that were applied more than once, or with two keys. */
  readonly duplicates: readonly string[]
  /** Expected names that were not applied. */
  readonly lost: readonly string[]
  /** Containers, processes and files that were not removed. */
  readonly leaks: readonly string[]
}

/** @param expected names that must have been applied exactly once; no others may be */
export function checkEffects(applied: readonly LedgerEntry[], expected: readonly string[]): Omit<Verdict, 'leaks'> {
  const names = applied.map(({ name }) => name)
  return {
    effects: applied.length,
    duplicates: names.filter((name, index) => names.indexOf(name) !== index || !expected.includes(name)),
    lost: expected.filter((name) => !names.includes(name)),
  }
}

/** Containers of a run, running or not. */
export async function remainingContainers(workflowId: string): Promise<string[]> {
  return (await containersOf(workflowId)).map(({ Names, State }) => `container ${Names[0]} (${State})`)
}

/** Processes that have this text in their environment. */
export function remainingProcesses(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readIfPresent(`/proc/${pid}/environ`).includes(mark))
    .map((pid) => `process ${pid}: ${readIfPresent(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`)
}

/** Files in a folder of temporary files. */
export function remainingFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `file ${name}`)
}

/** Maximum number of values that a worker of the scenario stores at once: a snapshot and the result of an activity. */
const valuesAtOnce = 2

/**
 * Values in a store whose content does not match their hash, and more unfinished ones than the killed processes may
 * leave (the store removes these after an hour).
 */
export function corruptValues(store: string, deaths: number): string[] {
  const files = readdirSync(store, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const begun = files.filter(({ parentPath }) => parentPath === join(store, 'incoming'))
  const broken = files
    .filter((file) => !begun.includes(file))
    .filter(
      ({ parentPath, name }) =>
        name !==
        createHash('sha256')
          .update(readFileSync(join(parentPath, name)))
          .digest('hex'),
    )
  return [
    ...broken.map(({ name }) => `value ${name} does not match its hash`),
    ...begun.slice(deaths * valuesAtOnce).map(({ name }) => `unfinished value ${name}`),
  ]
}

/** A process may end while its files are read. */
function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Turns of the model that runs have recorded before one of them accepted its first update of this name. */
export function recordedTurnsBefore(histories: readonly History[], update: string): number {
  const accepted = histories.flatMap(({ events }) => {
    const event = events.find(({ workflowExecutionUpdateAcceptedEventAttributes: at }) => {
      return at?.acceptedRequest?.input?.name === update
    })
    return event?.eventTime ? [millisecondsOf(event.eventTime)] : []
  })
  const first = Math.min(...accepted)
  const before = histories.map(({ events }) => ({
    events: events.filter(({ eventTime }) => eventTime && millisecondsOf(eventTime) < first),
  }))
  return completedActivityCount(before, 'model.turn')
}

function millisecondsOf({ seconds, nanos }: google.protobuf.ITimestamp): number {
  return Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6
}
