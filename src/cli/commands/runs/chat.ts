import { Command, Option } from 'commander'
import { hostedBackend } from '../../../common/agent/hosted-code.js'
import { agentRunOptions, configOption, jsonOption, sandboxOption } from '../options.js'
import type { ChatOptions } from '../../chat/run-chat.js'

export function chatCommand(): Command {
  const command = new Command('chat')
    .description('send messages to a conversation, one per line; it survives crashes and waits for months')
    .argument('[name]', 'name of the conversation (default: a new one)')
    .addOption(configOption())
    .addOption(sandboxOption(hostedBackend))
    .addOption(
      new Option(
        '--message <text>',
        'send only this message, print its answer, and leave; - reads the message from stdin',
      ),
    )
    .addOption(
      new Option(
        '--messages <file-or-json>',
        'earlier messages of a new conversation, in the format of the Messages API',
      ),
    )
    .addOption(new Option('--resume', 'fail if the conversation does not exist, instead of starting it'))
    .addOption(jsonOption('each answer, one per line,'))
    .addHelpText(
      'after',
      `
Answers go to stdout, progress to stderr. At a terminal, /help lists commands. A line that you type during the work on a
message steers that work. Ctrl-C interrupts the work, a second one leaves it running. exit or Ctrl-D leaves; the
conversation waits, without a sandbox after a while, until /close.

Examples:
  ptc chat
  ptc chat books --agent analyst
  ptc chat books --message "And in Q4?"
  ptc chat books --session q3
  echo /close | ptc chat books`,
    )
    .action(async (name: string | undefined, options: ChatOptions) => {
      const { runChat } = await import('../../chat/run-chat.js')
      process.exitCode = await runChat(options, name)
    })
  for (const option of agentRunOptions()) command.addOption(option)
  return command
}
