import { formatCost } from '../../common/text/format.js'
import { formatCompactNumber, pluralize } from '../../common/text/text.js'
import type { ArmSummary, Comparison, EvalSummary } from '../../evals/index.js'
import { renderColumns } from '../rendering/tables/column-table.js'
import { createColors } from '../rendering/text/colors.js'
import { oneLine } from '../rendering/text/sanitize.js'

interface Layout {
  readonly width: number | undefined
  readonly color: boolean
}

type Counts = EvalSummary['counts']
type Interval = ArmSummary['passInterval']

/** An eval: its headline, a row for each arm, and a row for each task. */
export function renderEval(summary: EvalSummary, { width, color }: Layout): string {
  const { bold, dim } = createColors(color)
  const { id, label, version, counts, arms, tasks, maxCostUsd } = summary
  const names = arms.map(({ arm }) => oneLine(arm))
  const heading = bold(`eval ${id}: ${headline(counts)}`)
  const facts = [version, label, maxCostUsd === null ? '' : `at most ${formatCost(maxCostUsd)}`].filter(Boolean)
  const armRows = arms.map((arm) => [
    oneLine(arm.arm),
    rateText(arm),
    arm.verifiedRate === null ? '-' : percent(arm.verifiedRate),
    mean(arm, 'turns'),
    mean(arm, 'toolCalls'),
    tokens(arm),
    cost(arm),
    mean(arm, 'seconds', 's'),
  ])
  const armTable = renderColumns(
    [['MODEL', 'PASSED', 'CHECKED', 'TURNS', 'CALLS', 'TOKENS IN/CACHED/OUT', 'COST', 'TIME'], ...armRows],
    width,
  )
  const taskRows = tasks.map(({ task, arms: cells, reasons }) => [
    oneLine(task),
    ...cells.map(cellText),
    oneLine(reasons.join('; ')),
  ])
  const taskTable = renderColumns([['TASK', ...names, 'REASONS'], ...taskRows], width)
  const failures = arms.flatMap(({ arm, failures: kinds }) => {
    const listed = Object.entries(kinds).map(([kind, count]) => `${oneLine(kind)} ${count}`)
    return listed.length === 0 ? [] : [dim(`${oneLine(arm)}: ${listed.join(', ')}`)]
  })
  return [heading, dim(oneLine(facts.join(' · '))), '', armTable, '', taskTable, ...failures].join('\n')
}

/** The numbers of all states beside the rate: an error is neither passed nor failed. */
function headline(counts: Counts): string {
  const { passed, failed, errors, judgeFailed, notRun, unfinished } = counts
  const others = [
    errors > 0 ? pluralize(errors, 'error') : '',
    judgeFailed > 0 ? `${judgeFailed} without a verdict of the judge` : '',
    notRun > 0 ? `${notRun} not run` : '',
    unfinished > 0 ? `${unfinished} not finished` : '',
  ].filter(Boolean)
  return [`${passed} of ${passed + failed} passed`, ...others].join(', ')
}

function cellText(counts: Counts): string {
  const { passed, failed, errors, judgeFailed, notRun, unfinished } = counts
  const others = errors + judgeFailed + notRun + unfinished
  return `${passed}/${passed + failed}${others > 0 ? ` (+${others} not scored)` : ''}`
}

function rateText({ passRate, passInterval, counts }: ArmSummary): string {
  if (passRate === null) return `- (0 of ${counts.total} scored)`
  return `${percent(passRate)} ${intervalText(passInterval, percent)}`
}

function intervalText(interval: Interval, format: (value: number) => string): string {
  return interval === null ? '' : `[${format(interval.low)}, ${format(interval.high)}]`
}

function percent(rate: number): string {
  return `${Math.round(rate * 1_000) / 10}%`
}

function mean({ metrics }: ArmSummary, metric: 'turns' | 'toolCalls' | 'seconds', unit = ''): string {
  const summary = metrics[metric]
  return summary === null ? '-' : `${summary.mean.toFixed(1)}${unit}`
}

function tokens({ metrics: { inputTokens, cachedTokens, outputTokens } }: ArmSummary): string {
  const all = [inputTokens, cachedTokens, outputTokens]
  return all.map((each) => (each === null ? '-' : formatCompactNumber(Math.round(each.mean)))).join(' / ')
}

function cost({ metrics: { costUsd }, counts, spentUsd }: ArmSummary): string {
  if (costUsd === null) return 'unknown'
  const scored = counts.passed + counts.failed
  const unknown = costUsd.count < scored ? ` (${scored - costUsd.count} unknown)` : ''
  return `${formatCost(costUsd.mean)}${unknown}, all ${formatCost(spentUsd)}`
}

const metricNames = {
  passRate: 'passed',
  verifiedRate: 'checked its work',
  turns: 'turns',
  toolCalls: 'calls',
  inputTokens: 'tokens in',
  cachedTokens: 'tokens cached',
  outputTokens: 'tokens out',
  costUsd: 'cost',
  seconds: 'seconds',
} as const

/** Two arms side by side. A star marks a difference whose interval excludes zero. */
export function renderComparison(
  { first, second, tasks, leftOut, differences }: Comparison,
  { width, color }: Layout,
): string {
  const { bold, dim } = createColors(color)
  const name = ({ evalId, arm }: Comparison['first']) => `${oneLine(arm)} of ${oneLine(evalId)}`
  const rows = differences.map(({ metric, first: a, second: b, difference, interval, isSignificant, method }) => {
    const isRate = metric === 'passRate' || metric === 'verifiedRate'
    const format = (value: number | null): string =>
      value === null ? '-' : isRate ? percent(value) : metric === 'costUsd' ? value.toFixed(4) : value.toFixed(1)
    const signed = (value: number): string => (value > 0 ? `+${format(value)}` : format(value))
    return [
      metricNames[metric],
      format(a),
      format(b),
      difference === null ? '-' : signed(difference),
      interval === null ? '-' : intervalText(interval, signed),
      isSignificant ? '*' : '',
      method ?? '',
    ]
  })
  const table = renderColumns([['', 'A', 'B', 'B - A', '95% INTERVAL', '', 'METHOD'], ...rows], width)
  const notes = [
    '* the interval excludes zero. It is for one comparison: of twenty rows without a difference, one has a star.',
    ...(leftOut.length > 0
      ? [`left out, because they differ or only one has them: ${leftOut.map(oneLine).join(', ')}`]
      : []),
  ]
  return [
    bold(`A ${name(first)}: ${headline(first.counts)}`),
    bold(`B ${name(second)}: ${headline(second.counts)}`),
    dim(pluralize(tasks.length, 'common task')),
    '',
    table,
    ...notes.map(dim),
  ].join('\n')
}
