import { formatDuration } from '../../../common/text/format.js'
import type { WaitOfRun } from '../../../client/calls/open-waits.js'
import { oneLine } from '../text/sanitize.js'
import { describeWait, formatRequester, waitCommand } from '../text/waits.js'
import { textBlock } from '../text/text-block.js'
import { createColors } from '../text/colors.js'
import { formatLine, part } from '../text/line.js'

interface WaitTableOptions {
  readonly now: number
  /** Columns of the terminal; undefined: unlimited. */
  readonly width: number | undefined
  readonly color: boolean
  /** Those that are rendered. Default: all. A command names its call when other calls of the run wait. */
  readonly shown?: readonly WaitOfRun[]
}

/** For each wait: the run, what it waits for, since when, who asked, and the command that continues it. */
export function renderWaits(waits: readonly WaitOfRun[], options: WaitTableOptions): string {
  const { now, width = 10_000, color, shown = waits } = options
  const colors = createColors(color)
  const lines = shown.flatMap(({ run, wait }) => {
    const waitsFor = waits.filter((each) => each.run.workflowId === run.workflowId).map((each) => each.wait)
    const asked = formatRequester(run.requester)
    const since = `${formatDuration(Math.max(0, now - wait.since))} ago`
    const facts = [since, ...(asked === '' ? [] : [`asked by ${asked}`])].join(' · ')
    const command = waitCommand({ workflowId: run.workflowId, waitsFor }, wait)
    const wrapped = { columns: width - 2, limit: undefined, prose: true } as const
    return [
      [part(oneLine(run.workflowId), 'bold'), part(`  ${facts}`, 'dim')],
      ...textBlock(describeWait(wait), wrapped).map((line) => [part('  '), ...line]),
      ...textBlock(command, { ...wrapped, style: 'yellow' }).map((line) => [part('  '), ...line]),
    ]
  })
  return lines.map((line) => formatLine(line, width, colors)).join('\n')
}
