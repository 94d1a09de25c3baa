import { Command, Option } from 'commander'
import { messageOf, PtcError } from '../../common/errors.js'
import { callActivityId } from '../../common/names.js'
import type { JsonValue } from '../../common/json/json.js'
import type { Environment } from '../environment/environment.js'
import { withEnvironment } from '../environment/with-environment.js'
import { print, printStatus } from '../process/stdio.js'
import { readText } from '../process/read-text.js'
import { configOption, type ConfigOption, jsonOption, type JsonOption } from './options.js'

/** `ptc calls list|complete|fail`. */
export function callsCommand(): Command {
  return new Command('calls')
    .description('deferred calls, whose result comes later: list, complete, fail')
    .addCommand(
      new Command('list')
        .description('list the calls of a run that wait for a result or an approval, with their tokens')
        .argument('<id>', 'id of the run, as `ptc list` shows it')
        .addOption(configOption())
        .addOption(jsonOption('an array of calls'))
        .action(list),
    )
    .addCommand(
      new Command('complete')
        .description('complete a deferred call with its result')
        .argument('<token>', 'completion token of the call')
        .addOption(new Option('--result <json>', 'the result as JSON').conflicts('resultFile'))
        .addOption(new Option('--result-file <file>', 'a file with the result as JSON; `-` is standard input'))
        .addOption(byOption())
        .addOption(configOption())
        .action(complete),
    )
    .addCommand(
      new Command('fail')
        .description('fail a deferred call: its code gets a ToolError')
        .argument('<token>', 'completion token of the call')
        .requiredOption('--message <text>', 'why it failed')
        .addOption(byOption())
        .addOption(configOption())
        .action(fail),
    )
}

async function list(id: string, { config, json }: ConfigOption & JsonOption): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async ({ ptc }) => {
    const { waitingCallsOf } = await import('../../client/calls/waiting-calls.js')
    const calls = await waitingCallsOf(ptc, id)
    if (json === true) return print(JSON.stringify(calls, null, 2))
    if (calls.length === 0) return printStatus(`no call of run ${id} waits for a result or an approval`)
    const { oneLine } = await import('../rendering/text/sanitize.js')
    for (const { waitsFor, summary, position, since, expiresAt, token } of calls) {
      const wait = `waits for its ${waitsFor} since ${since}, expires ${expiresAt}`
      print(`${oneLine(summary)}\n  ${callActivityId(position)} ${wait}\n  ${token}`)
    }
  })
}

interface ByOption {
  readonly by?: string
}

function byOption(): Option {
  return new Option('--by <name>', 'who decided, for the audit log (default: this process and its host)')
}

interface CompleteOptions extends ConfigOption, ByOption {
  readonly result?: string
  readonly resultFile?: string
}

async function complete(token: string, { config, result, resultFile, ...options }: CompleteOptions): Promise<void> {
  if (result === undefined && resultFile === undefined) {
    throw new PtcError('RUN_INPUT_INVALID', 'there is no result', { hint: 'Give --result JSON or --result-file FILE.' })
  }
  const value = parseJson(result ?? (await readText(resultFile ?? '-')))
  await withCalls(config, ({ ptc }) => ptc.completeCall(token, value, options))
  printStatus('the call is completed')
}

interface FailOptions extends ConfigOption, ByOption {
  readonly message: string
}

async function fail(token: string, { config, message, ...options }: FailOptions): Promise<void> {
  await withCalls(config, ({ ptc }) => ptc.failCall(token, message, options))
  printStatus('the call has failed')
}

/** A worker of the run records the result. None is started here: it would resume all open runs. */
async function withCalls(
  config: string | undefined,
  action: (environment: Environment) => Promise<void>,
): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'fail' }, action)
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
