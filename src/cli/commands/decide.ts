import { Command, Option } from 'commander'
import { PtcError } from '../../common/errors.js'
import { completeCommand } from '../../common/run/wait-commands.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { answerCall } from '../run/answer-call.js'
import { withWaitingCall } from '../run/find-waiting-call.js'
import { readJson } from '../process/read-text.js'
import { printStatus } from '../process/stdio.js'
import { configOption, type ConfigOption } from './options.js'

interface Decision extends ConfigOption {
  readonly by?: string
}

interface ApproveOptions extends Decision {
  readonly arguments?: string
  readonly remember?: true
}

interface DenyOptions extends Decision {
  readonly reason: string
  readonly compensate?: true
}

export function approveCommand(): Command {
  return decisionCommand('approve', 'approve a call that waits for it')
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
      .description('answer the question of a call, such as that of ask_human, with a text')
      .argument('<run>', 'id of the run, or the token of the question')
      .argument('<text>', 'the answer')
      .addOption(new Option('--call <call>', 'the call, such as turn-1.cell-1.call-2; needed when several calls wait')),
  ).action(async (id: string, text: string, { config, call, ...decision }: Decision & { readonly call?: string }) => {
    await withWaitingCall(config, 'result', { id, call }, (ptc, token) =>
      answerCall(ptc, token, text, completeCommand(id, call), decision),
    )
    printStatus('the question is answered')
  })
}

function decisionCommand(name: string, description: string): Command {
  return addDeciderOptions(
    new Command(name)
      .description(description)
      .argument('[run]', 'id of the run, or the token of the request; not needed when one call of all runs waits')
      .argument('[call]', 'the call, such as turn-1.cell-1.call-2; needed when several calls wait'),
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
