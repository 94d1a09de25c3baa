import { Command, Option } from 'commander'
import { callActivityId } from '../../../common/names.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { withWaitingCall } from '../../run/find-waiting-call.js'
import { print, printStatus } from '../../process/stdio.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'
import { byOption, callOption } from './decide.js'

interface ListOptions extends ConfigOption, JsonOption {
  readonly tokens?: true
}

export function callsCommand(): Command {
  return new Command('calls')
    .description('deferred calls, whose result comes later: list, fail; `ptc answer` completes one')
    .addCommand(
      new Command('list')
        .description('list the calls of a run that wait for a result or an approval')
        .argument('<id>', 'id of the run, as `ptc list` shows it')
        .addOption(new Option('--tokens', 'with the completion tokens of the calls'))
        .addOption(configOption())
        .addOption(jsonOption('an array of calls'))
        .action(list),
    )
    .addCommand(
      new Command('fail')
        .description('fail a deferred call: its code gets a ToolError')
        .argument('<run>', 'id of the run, or the completion token of the call')
        .addOption(callOption())
        .requiredOption('--message <text>', 'why it failed')
        .addOption(byOption())
        .addOption(configOption())
        .action(fail),
    )
}

async function list(id: string, { config, json, tokens }: ListOptions): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async ({ ptc }) => {
    const { waitingCalls } = await import('../../../client/calls/open-waits.js')
    const calls = waitingCalls(await ptc.waits({ run: id }))
    if (json === true) return print(JSON.stringify(calls, null, 2))
    if (calls.length === 0) return printStatus(`no call of run ${id} waits for a result or an approval`)
    const { oneLine } = await import('../../rendering/text/sanitize.js')
    const { formatDuration } = await import('../../../common/text/format.js')
    const now = Date.now()
    for (const { waitsFor, summary, position, workflowId, since, expiresAt, token } of calls) {
      const waited = formatDuration(Math.max(0, now - Date.parse(since)))
      const left = formatDuration(Math.max(0, Date.parse(expiresAt) - now))
      const wait = `waits for its ${waitsFor} for ${waited}, expires in ${left}`
      const call = `${callActivityId(position)}${workflowId === undefined ? '' : ` of ${oneLine(workflowId)}`}`
      print(`${oneLine(summary)}\n  ${call} ${wait}${tokens === true ? `\n  ${token}` : ''}`)
    }
    if (tokens !== true)
      printStatus('The call names it for ptc approve, deny, answer and calls fail; --tokens shows tokens.')
  })
}

interface FailOptions extends ConfigOption {
  readonly by?: string
  readonly call?: string
  readonly message: string
}

async function fail(id: string, { config, message, call, ...by }: FailOptions): Promise<void> {
  await withWaitingCall(config, 'result', { id, call }, (ptc, token) => ptc.failCall(token, message, by))
  printStatus('the call has failed')
}
