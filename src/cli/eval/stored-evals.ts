import { existsSync } from 'node:fs'
import { PtcError } from '../../common/errors.js'
import { compareArms, type Comparison, EvalStore, type EvalSummary, summarizeEval } from '../../evals/index.js'
import { renderColumns } from '../rendering/tables/column-table.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { resultsPath } from './results-path.js'

/** Opens results that exist. @throws PtcError EVAL_NOT_FOUND, EVAL_STORE_UNAVAILABLE */
async function openResults(results: string | undefined): Promise<EvalStore> {
  const path = resultsPath(results)
  if (existsSync(path)) return EvalStore.open(path)
  throw new PtcError('EVAL_NOT_FOUND', `there are no results in ${path}`, { hint: '`ptc eval` writes them.' })
}

function summaryOf(store: EvalStore, id: string): EvalSummary {
  const record = store.requireEval(id)
  return summarizeEval(record, store.arms(record.id), store.samples(record.id))
}

export async function listEvals(results: string | undefined, limit: number): Promise<readonly EvalSummary[]> {
  if (!existsSync(resultsPath(results))) return []
  using store = await openResults(results)
  return store.evals(limit).map(({ id }) => summaryOf(store, id))
}

/** An eval, with its samples. @param id may be the beginning of an id */
export async function readEval(results: string | undefined, id: string) {
  using store = await openResults(results)
  const summary = summaryOf(store, id)
  return { summary, samples: store.samples(summary.id) }
}

/**
 * Compares two arms.
 *
 * @param first an eval with one arm, or EVAL/NUMBER
 * @throws PtcError EVAL_NOT_FOUND, RUN_INPUT_INVALID
 */
export async function compareEvals(results: string | undefined, first: string, second: string): Promise<Comparison> {
  using store = await openResults(results)
  const sideOf = (text: string) => {
    const [, id = '', number] = /^(.*?)(?:\/(\d+))?$/.exec(text) ?? []
    const { id: evalId } = store.requireEval(id)
    const arms = store.arms(evalId)
    const arm = number === undefined && arms.length === 1 ? arms[0] : arms[Number(number) - 1]
    if (arm === undefined) {
      const names = arms.map(({ name }, index) => `${evalId}/${index + 1} ${name}`).join(', ')
      throw new PtcError('RUN_INPUT_INVALID', `${text} does not name one model of the eval`, {
        hint: `There are: ${names}.`,
      })
    }
    return { evalId, arm, samples: store.samples(evalId).filter((sample) => sample.arm === arm.number) }
  }
  return compareArms(sideOf(first), sideOf(second))
}

export function renderEvalList(evals: readonly EvalSummary[], width: number | undefined): string {
  const rows = evals.map(({ id, createdAt, finishedAt, counts, arms, label, version }) => [
    id,
    createdAt.slice(0, 16).replace('T', ' '),
    `${counts.passed}/${counts.passed + counts.failed}`,
    finishedAt === null ? 'not finished' : String(counts.total - counts.passed - counts.failed),
    oneLine(arms.map(({ arm }) => arm).join(', ')),
    oneLine(label === '' ? version : label),
  ])
  return renderColumns([['EVAL', 'BEGUN', 'PASSED', 'NOT SCORED', 'MODELS', 'VERSION'], ...rows], width)
}
