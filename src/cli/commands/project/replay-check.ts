import { Command, Option } from 'commander'
import type { executionHistories } from '../../../client/temporal/histories.js'
import type { CheckedHistory, NamedHistory } from '../../run/check-histories.js'
import { renderColumns } from '../../rendering/tables/column-table.js'
import { oneLine } from '../../rendering/text/sanitize.js'
import { exitCodes } from '../../process/exit-code.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { print, printStatus } from '../../process/stdio.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { configOption, type ConfigOption, integerUpTo, jsonOption, type JsonOption } from '../options.js'

interface Options extends ConfigOption, JsonOption {
  readonly limit: number
  readonly query?: string
}

export function replayCheckCommand(): Command {
  return new Command('replay-check')
    .description('replay histories of runs on the installed workflow code, before it is deployed')
    .argument('[files...]', 'histories as JSON, as `temporal workflow show --output json` prints them')
    .addOption(
      new Option('-n, --limit <number>', 'maximum number of histories of the server')
        .argParser(integerUpTo(100_000))
        .default(100),
    )
    .addOption(new Option('-q, --query <query>', 'only runs that match this list filter of Temporal'))
    .addOption(configOption())
    .addOption(jsonOption('the results'))
    .addHelpText(
      'after',
      `
Without files it replays the newest executions of the task queue, open or closed. Exit code 1: a history
does not replay, or there is none.

Examples:
  ptc replay-check                                            the last 100 executions
  ptc replay-check -n 1000 -q "ExecutionStatus = 'Running'"   open ones: a deploy would continue them
  ptc replay-check histories/*.json                           files, without a server`,
    )
    .action(replayCheck)
}

async function replayCheck(files: readonly string[], options: Options): Promise<void> {
  const { checkHistories, readHistoryFiles } = await import('../../run/check-histories.js')
  if (files.length > 0) {
    using interrupts = listenForInterrupts()
    const { extendDataConverter } = await import('../../../values/data-converter.js')
    const { openStore } = await import('../../../values/open-store.js')
    const { keysOf, resolveProject } = await import('../../environment/project.js')
    const histories = await readHistoryFiles(files)
    const project = await resolveProject({ config: options.config, load: 'if_named' })
    const keys = keysOf(project)
    const opened = await openStore(project.store, keys)
    try {
      const dataConverter = extendDataConverter(undefined, { open: () => opened, retryForMs: 0, keys })
      report(await checkHistories(histories, dataConverter, interrupts.first), options)
    } finally {
      await opened.close()
    }
    return
  }
  const { config } = options
  await withEnvironment(
    { config, load: 'if_named', ifNoServer: 'start_read_only' },
    async ({ client, ptc }, signal) => {
      const { executionHistories } = await import('../../../client/temporal/histories.js')
      const histories = executionHistories(client, { ...options, taskQueue: ptc.taskQueue }, signal)
      report(await checkHistories(named(histories), client.options.loadedDataConverter, signal), options)
    },
  )
}

async function* named(histories: ReturnType<typeof executionHistories>): AsyncGenerator<NamedHistory, void, undefined> {
  for await (const { workflowId, runId, events } of histories) {
    yield { id: `${workflowId} ${runId}`, workflowId, history: { events } }
  }
}

function report(results: readonly CheckedHistory[], { json }: Options): void {
  const failed = results.filter(({ problem }) => problem !== undefined)
  if (json === true) print(JSON.stringify(results, null, 2))
  else if (results.length > 0) print(renderTable(results))
  if (results.length === 0) printStatus('ptc: there is no history to replay')
  else printStatus(`${results.length - failed.length} of ${results.length} histories replay`)
  // A check of no history is a failure: the filter or the task queue may be wrong.
  if (failed.length > 0 || results.length === 0) process.exitCode = exitCodes.failed
}

function renderTable(results: readonly CheckedHistory[]): string {
  const rows = results.map(({ id, events, problem }) => [oneLine(id), String(events), oneLine(problem ?? 'replays')])
  return renderColumns([['HISTORY', 'EVENTS', 'RESULT'], ...rows], undefined)
}
