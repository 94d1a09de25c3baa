import { Command, Option } from 'commander'
import { PtcError } from '../../../common/errors.js'
import { completeCommand } from '../../../common/run/wait-commands.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../common/json/json.js'
import { answerCall } from '../../run/answer-call.js'
import { withWaitingCall } from '../../run/find-waiting-call.js'
import { readJson } from '../../process/read-text.js'
import { printStatus } from '../../process/stdio.js'
import { configOption, type ConfigOption } from '../options.js'

interface Decision extends ConfigOption {
  readonly by?: string
}

interface ApproveOptions extends Decision {
  readonly arguments?: string
  readonly remember?: true
}

interface AnswerOptions extends Decision {
  readonly result?: string
  readonly error?: string
  readonly call?: string
  readonly cancel?: true
}

interface DenyOptions extends Decision {
  readonly reason: string
  readonly compensate?: true
}

export function approveCommand(): Command {
  return decisionCommand('approve', 'approve a call that waits for approval')
    .addOption(new Option('--arguments <json>', 'arguments that replace those of the call: JSON, or a file with it'))
    .addOption(new Option('--remember', 'approve later calls of the tool with the same arguments in this run, too'))
    .action(async (id: string | undefined, call: string | undefined, options: ApproveOptions) => {
      const { config, arguments: text, ...decision } = options
      const args = text === undefined ? {} : { arguments: toObject(await readJson(text, '--arguments')) }
      await withWaitingCall(config, 'approval', { id, call }, (ptc, token) =>
        ptc.approveCall(token, { ...decision, ...args }),
      )
      printStatus('the call is approved')
    })
}

export function denyCommand(): Command {
  return decisionCommand('deny', 'deny a call that waits for approval: its code gets a ToolDenied')
    .requiredOption('--reason <text>', 'why; the code and the model read it')
    .addOption(new Option('--compensate', 'undo the calls that the run has completed before'))
    .action(async (id: string | undefined, call: string | undefined, options: DenyOptions) => {
      const { config, reason, ...decision } = options
      await withWaitingCall(config, 'approval', { id, call }, (ptc, token) => ptc.denyCall(token, reason, decision))
      printStatus('the call is denied')
    })
}

export function answerCommand(): Command {
  return addDeciderOptions(
    new Command('answer')
      .description('give a waiting call its result: a text for a question, such as that of ask_human, or JSON')
      .argument('<run>', 'id of the run, or the token of the call')
      .argument('[text]', 'the answer to a question')
      .addOption(new Option('--result <file-or-json>', 'the result as JSON, or a file with it; - reads it from stdin'))
      .addOption(new Option('--error <text>', 'why there is no result: the call fails, or declines its question'))
      .addOption(new Option('--cancel', 'close the question of an MCP server without an answer'))
      .addOption(new Option('--call <call>', `${callText}; needed when several calls wait`)),
  ).action(async (id: string, text: string | undefined, options: AnswerOptions) => {
    const { config, result, error, call, cancel, ...decision } = options
    if ([text, result, error, cancel].filter((each) => each !== undefined).length !== 1) {
      const hint = 'Give a text, or --result JSON, or --error TEXT, or --cancel.'
      throw new PtcError('RUN_INPUT_INVALID', 'a call needs exactly one answer', { hint })
    }
    const value = result === undefined ? undefined : await readJson(result, '--result')
    await withWaitingCall(config, 'result', { id, call }, async (ptc, token) => {
      if (cancel) await ptc.failCall(token, 'cancelled', { ...decision, cancel })
      else if (error !== undefined) await ptc.failCall(token, error, decision)
      else if (text !== undefined) await answerCall(ptc, token, text, completeCommand(id, call), decision)
      else await ptc.completeCall(token, value ?? null, decision)
    })
    if (cancel) printStatus('the question is cancelled')
    else if (error !== undefined) printStatus('the call has failed')
    else printStatus(text === undefined ? 'the call is completed' : 'the question is answered')
  })
}

const callText = 'the call, such as turn-1.cell-1.call-2'

function decisionCommand(name: string, description: string): Command {
  return addDeciderOptions(
    new Command(name)
      .description(description)
      .argument('[run]', 'id of the run, or the token of the call; not needed when only one call of all runs waits')
      .argument('[call]', `${callText}; needed when several calls of the run wait`),
  )
}

function addDeciderOptions(command: Command): Command {
  return command
    .addOption(new Option('--by <name>', 'who decided, for the audit log (default: this process and its host)'))
    .addOption(configOption())
}

/** @throws PtcError RUN_INPUT_INVALID */
function toObject(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value
  throw new PtcError('RUN_INPUT_INVALID', '--arguments: it must be a JSON object', {
    hint: 'Quote it for the shell: --arguments \'{"euros": 100}\'.',
  })
}
