import { Command, Option } from 'commander'
import { messageOf, PtcError } from '../../../common/errors.js'
import { callActivityId } from '../../../common/names.js'
import type { JsonValue } from '../../../common/json/json.js'
import { withEnvironment } from '../../environment/with-environment.js'
import { withWaitingCall } from '../../run/find-waiting-call.js'
import { print, printStatus } from '../../process/stdio.js'
import { readText } from '../../process/read-text.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from '../options.js'

interface ListOptions extends ConfigOption, JsonOption {
  readonly tokens?: true
}

export function callsCommand(): Command {
  return new Command('calls')
    .description('deferred calls, whose result comes later: list, complete, fail')
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
      new Command('complete')
        .description('complete a deferred call with its result')
        .argument('<run>', 'id of the run, or the completion token of the call')
        .addOption(callOption())
        .addOption(new Option('--result <json>', 'the result as JSON').conflicts('resultFile'))
        .addOption(new Option('--result-file <file>', 'a file with the result as JSON; `-` is standard input'))
        .addOption(byOption())
        .addOption(configOption())
        .action(complete),
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
    const { waitingCalls } = await import('../../../client/calls/waiting-calls.js')
    const calls = waitingCalls(await ptc.waits({ run: id }))
    if (json === true) return print(JSON.stringify(calls, null, 2))
    if (calls.length === 0) return printStatus(`no call of run ${id} waits for a result or an approval`)
    const { oneLine } = await import('../../rendering/text/sanitize.js')
    const { formatDuration } = await import('../../rendering/index.js')
    const now = Date.now()
    for (const { waitsFor, summary, position, workflowId, since, expiresAt, token } of calls) {
      const waited = formatDuration(Math.max(0, now - Date.parse(since)))
      const left = formatDuration(Math.max(0, Date.parse(expiresAt) - now))
      const wait = `waits for its ${waitsFor} for ${waited}, expires in ${left}`
      const call = `${callActivityId(position)}${workflowId === undefined ? '' : ` of ${oneLine(workflowId)}`}`
      print(`${oneLine(summary)}\n  ${call} ${wait}${tokens === true ? `\n  ${token}` : ''}`)
    }
    if (tokens !== true)
      printStatus('The call names it for ptc approve, deny, answer and calls complete; --tokens shows tokens.')
  })
}

interface ByOption {
  readonly by?: string
  readonly call?: string
}

function callOption(): Option {
  return new Option('--call <call>', 'the call, such as turn-1.cell-1.call-2; needed when several calls wait')
}

function byOption(): Option {
  return new Option('--by <name>', 'who decided, for the audit log (default: this process and its host)')
}

interface CompleteOptions extends ConfigOption, ByOption {
  readonly result?: string
  readonly resultFile?: string
}

async function complete(id: string, options: CompleteOptions): Promise<void> {
  const { config, result, resultFile, call, ...by } = options
  if (result === undefined && resultFile === undefined) {
    throw new PtcError('RUN_INPUT_INVALID', 'there is no result', { hint: 'Give --result JSON or --result-file FILE.' })
  }
  const value = parseJson(result ?? (await readText(resultFile ?? '-')))
  await withWaitingCall(config, 'result', { id, call }, (ptc, token) => ptc.completeCall(token, value, by))
  printStatus('the call is completed')
}

interface FailOptions extends ConfigOption, ByOption {
  readonly message: string
}

async function fail(id: string, { config, message, call, ...by }: FailOptions): Promise<void> {
  await withWaitingCall(config, 'result', { id, call }, (ptc, token) => ptc.failCall(token, message, by))
  printStatus('the call has failed')
}

function parseJson(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch (cause) {
    throw new PtcError('RUN_INPUT_INVALID', `the result is not JSON: ${messageOf(cause)}`, {
      hint: 'Quote it for the shell: --result \'{"approved": true}\'.',
      cause,
    })
  }
}
