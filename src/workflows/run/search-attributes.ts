import {
  ContinueAsNew,
  isCancellation,
  upsertSearchAttributes,
  type WorkflowInfo,
  workflowInfo,
} from '@temporalio/workflow'
import {
  type ActiveStatus,
  isOwnSearchAttribute,
  type SearchAttributeName,
  searchAttributeTypes,
  tenantOf,
  toKeyword,
} from '../../common/run/search-attributes.js'
import type { Run } from './run.js'

type SearchAttributePair = ReturnType<WorkflowInfo['typedSearchAttributes']['getAll']>[number]

type PublishedRun = Pick<Run, 'config' | 'counts' | 'kind'>

/**
 * Publishes the search attributes of a new run. This takes one event of the history, or none on a server without these
 * search attributes.
 */
export function publishStart(run: PublishedRun, session?: string): void {
  const { config, kind } = run
  const status: ActiveStatus = 'running'
  upsert(run, {
    PtcAgent: toKeyword(config.agentName),
    PtcStatus: status,
    PtcTenant: tenantOf(config),
    PtcModel: kind === 'agent' || kind === 'conversation' ? toKeyword(config.model.name) : undefined,
    PtcSession: toKeyword(session),
  })
}

/** Publishes a status with the cost so far, unless the run has this status already. */
export function publishStatus(run: PublishedRun, status: string): void {
  if (run.config.searchAttributes?.includes('PtcStatus') !== true) return
  const current = workflowInfo()
    .typedSearchAttributes.getAll()
    .find(({ key }) => key.name === 'PtcStatus')
  if (current?.value !== status) upsert(run, { PtcStatus: status, PtcCostUsd: costOf(run) })
}

/**
 * Publishes what a run waits for, if it does. A person is asked at once: for an approval, or the answer to a question.
 *
 * @param isParked the code waits for longer than `timeouts.park`
 */
export function publishWait(
  run: PublishedRun & Pick<Run, 'progress'>,
  isParked = run.progress.activity?.type === 'waiting' && run.progress.activity.isParked,
): void {
  const waits = [...run.progress.openCalls.values()].flatMap(({ wait }) =>
    wait && 'expiresAt' in wait ? wait.for : [],
  )
  if (waits.includes('approval')) return publishStatus(run, 'waiting_for_approval')
  if (waits.includes('answer')) return publishStatus(run, 'waiting_for_result')
  if (isParked) return publishStatus(run, waits.length > 0 ? 'waiting_for_result' : 'waiting')
  publishStatus(run, 'running')
}

/** Publishes the end of a run: a status of its result, `failed`, or `cancelled`. */
export async function publishEnd<Result>(
  run: PublishedRun,
  work: () => Promise<Result>,
  statusOf: (result: Result) => string,
): Promise<Result> {
  let status = 'failed'
  try {
    const result = await work()
    status = statusOf(result)
    return result
  } catch (thrown) {
    if (thrown instanceof ContinueAsNew) status = ''
    else if (isCancellation(thrown)) status = 'cancelled'
    throw thrown
  } finally {
    if (status !== '') publishStatus(run, status)
  }
}

/**
 * Returns the search attributes for the next execution of the chain, with the cost so far. By default, the SDK would
 * pass those of the start of this execution.
 */
export function continuedSearchAttributes(run: PublishedRun): SearchAttributePair[] | undefined {
  const own = inheritableSearchAttributes().filter(({ key }) => key.name !== 'PtcCostUsd')
  const pairs = [...own, ...toPairs(run, { PtcCostUsd: costOf(run) })]
  return pairs.length === 0 ? undefined : pairs
}

/** Returns the search attributes that this workflow may pass on to another one: those that the engine does not set. */
export function searchAttributesForChild(): SearchAttributePair[] {
  return inheritableSearchAttributes().filter(({ key }) => !isOwnSearchAttribute(key.name))
}

/** Search attributes that the server sets; a start request may not have them. */
const serverAttributes = /^(BuildIds|Temporal.*)$/

function inheritableSearchAttributes(): SearchAttributePair[] {
  return workflowInfo()
    .typedSearchAttributes.getAll()
    .filter(({ key }) => !serverAttributes.test(key.name))
}

/**
 * Returns the cost. It is undefined before the first paid reply, when the price is unknown, and when the sum is not
 * finite: the server refuses such a number, and with it the workflow task.
 */
function costOf({ counts: { costUsd, turns } }: PublishedRun): number | undefined {
  return costUsd === null || turns === 0 || !Number.isFinite(costUsd) ? undefined : costUsd
}

type Values = Partial<Readonly<Record<SearchAttributeName, string | number | undefined>>>

function upsert(run: PublishedRun, values: Values): void {
  const pairs = toPairs(run, values)
  if (pairs.length > 0) upsertSearchAttributes(pairs)
}

/**
 * Returns only the search attributes that the server had when the run started: an upsert of any other one would fail
 * every attempt of the workflow task.
 */
function toPairs({ config, kind }: PublishedRun, values: Values): SearchAttributePair[] {
  if (kind === 'embedded') return []
  return (config.searchAttributes ?? []).flatMap((name) => {
    const value = values[name]
    if (value === undefined) return []
    return [{ key: { name, type: searchAttributeTypes[name] }, value } as SearchAttributePair]
  })
}
