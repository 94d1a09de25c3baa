import { Command, Option } from 'commander'
import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { callActivityId } from '../../common/names.js'
import { pluralize } from '../../common/text/text.js'
import type { PtcClient } from '../../client/index.js'
import { withEnvironment } from '../environment/with-environment.js'
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

/** `ptc approve RUN [CALL]`. */
export function approveCommand(): Command {
  return decisionCommand('approve', 'approve a call that waits for it')
    .addOption(new Option('--arguments <json>', 'arguments that replace those of the call: JSON, or a file with it'))
    .addOption(new Option('--remember', 'approve later calls of the tool with the same arguments in this run, too'))
    .action(async (id: string, call: string | undefined, options: ApproveOptions) => {
      const { config, arguments: text, ...decision } = options
      const args = text === undefined ? {} : { arguments: toObject(await readJson(text, '--arguments')) }
      await withCall(config, 'approval', { id, call }, (ptc, token) => ptc.approveCall(token, { ...decision, ...args }))
      printStatus('the call is approved')
    })
}

/** `ptc deny RUN [CALL]`. */
export function denyCommand(): Command {
  return decisionCommand('deny', 'deny a call that waits for approval: its code gets a ToolDenied')
    .requiredOption('--reason <text>', 'why; the code and the model read it')
    .addOption(new Option('--compensate', 'undo the calls that the run has completed before'))
    .action(async (id: string, call: string | undefined, options: DenyOptions) => {
      const { config, reason, ...decision } = options
      await withCall(config, 'approval', { id, call }, (ptc, token) => ptc.denyCall(token, reason, decision))
      printStatus('the call is denied')
    })
}

/** `ptc answer RUN TEXT`. */
export function answerCommand(): Command {
  return addDeciderOptions(
    new Command('answer')
      .description('answer the question of a call, such as that of ask_human, with a text')
      .argument('<run>', 'id of the run, or the token of the question')
      .argument('<text>', 'the answer')
      .addOption(new Option('--call <call>', 'the call, such as turn-1.cell-1.call-2; needed when several calls wait')),
  ).action(async (id: string, text: string, { config, call, ...decision }: Decision & { readonly call?: string }) => {
    await withCall(config, 'result', { id, call }, (ptc, token) => ptc.completeCall(token, text, decision))
    printStatus('the question is answered')
  })
}

function decisionCommand(name: string, description: string): Command {
  return addDeciderOptions(
    new Command(name)
      .description(description)
      .argument('<run>', 'id of the run, or the token of the request')
      .argument('[call]', 'the call, such as turn-1.cell-1.call-2; needed when several calls wait'),
  )
}

function addDeciderOptions(command: Command): Command {
  return command
    .addOption(new Option('--by <name>', 'who decided, for the audit log (default: this process and its host)'))
    .addOption(configOption())
}

interface NamedCall {
  /** Of the run, or the token of the call. */
  readonly id: string
  /** Undefined: the only call that waits. */
  readonly call: string | undefined
}

type Wait = 'approval' | 'result'

/** A worker of the run records the decision. None is started here: it would resume all open runs. */
async function withCall(
  config: string | undefined,
  wait: Wait,
  named: NamedCall,
  decide: (ptc: PtcClient, token: string) => Promise<void>,
): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'fail' }, async ({ ptc }) => {
    await decide(ptc, isToken(named.id) ? named.id : await findToken(ptc, wait, named))
  })
}

function isToken(text: string): boolean {
  try {
    decodeCompletionToken(text)
    return true
  } catch {
    return false
  }
}

/** @throws PtcError CALL_NOT_FOUND, RUN_INPUT_INVALID when the call is not clear */
async function findToken(ptc: PtcClient, wait: Wait, { id, call }: NamedCall): Promise<string> {
  const { waitingCallsOf } = await import('../../client/calls/waiting-calls.js')
  const waiting = (await waitingCallsOf(ptc, id))
    .filter(({ waitsFor }) => waitsFor === wait)
    .map(({ position, token }) => ({ id: callActivityId(position), token }))
  const found = call === undefined ? waiting : waiting.filter((each) => each.id === call)
  const [first, second] = found
  if (first && !second) return first.token
  const ids = waiting
    .map((each) => each.id)
    .toSorted()
    .join(', ')
  if (first) {
    const message = `${pluralize(found.length, 'call')} of run ${id} wait for ${waits[wait]}`
    throw new PtcError('RUN_INPUT_INVALID', message, { hint: `Name one of them: ${ids}.` })
  }
  const what = call === undefined ? 'no call' : `no call ${call}`
  throw new PtcError('CALL_NOT_FOUND', `${what} of run ${id} waits for ${waits[wait]}`, {
    hint: ids === '' ? `\`ptc show ${id}\` shows the run.` : `These wait: ${ids}.`,
  })
}

const waits = { approval: 'approval', result: 'a result' } as const satisfies Record<Wait, string>

/** @throws PtcError RUN_INPUT_INVALID */
function toObject(value: JsonValue): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new PtcError('RUN_INPUT_INVALID', '--arguments: it must be a JSON object', {
    hint: 'Quote it for the shell: --arguments \'{"euros": 100}\'.',
  })
}
