/**
 * Starts an agent with a question and prints the live stream of its run. Then sends each line that is typed to a
 * conversation. The person at the terminal decides on calls that wait for approval.
 */
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { fileStream } from 'durable-ptc'
import { createPtcClient, PtcError, type RunHandle, type SentMessage } from 'durable-ptc/client'

const [question = 'Who spent more than 5,000 EUR on travel?'] = process.argv.slice(2)

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
const ptc = createPtcClient({
  client: new Client({ connection, namespace }),
  // Where the workers of `ptc dev` write the live stream. With other workers: the `stream` of their configuration.
  stream: fileStream({ folder: '.ptc/stream' }),
})
const terminal = createInterface({ input: process.stdin })
const lines = terminal[Symbol.asyncIterator]()

/** The next line that is typed; an empty text at the end of the input. */
async function readLine(prompt: string): Promise<string> {
  process.stdout.write(prompt)
  const { done, value } = await lines.next()
  return done === true ? '' : value.trim()
}

/** Prints the live stream of a run until the run has ended. */
async function printStream(run: RunHandle<unknown>): Promise<void> {
  for await (const event of run.stream()) {
    switch (event.type) {
      case 'turn.progressed':
        console.log(`\n[model: ${event.phase}]`)
        break
      case 'text.delta':
      case 'code.delta':
      case 'output.delta':
        process.stdout.write(event.text)
        break
      case 'turn.completed':
        console.log()
        break
      case 'call.started':
        console.log(`[call] ${event.summary}`)
        break
      case 'reset':
        console.log(`\n[${event.unit} begins again: its text so far is void]`)
        break
      default:
    }
  }
}

/** Errors of a decision that comes too late: somebody else has decided, the time is over, or the run has ended. */
const tooLate: readonly string[] = ['CALL_COMPLETED', 'CALL_EXPIRED', 'CALL_NOT_FOUND']

/** Lets the person decide on each call that waits for approval, until the run has ended. */
async function decideOnCalls(run: RunHandle<unknown>): Promise<void> {
  const asked = new Set<string>()
  for await (const { waitsFor } of run.waits()) {
    for (const wait of waitsFor) {
      if (wait.type !== 'approval' || asked.has(wait.token)) continue
      asked.add(wait.token)
      const reply = await readLine(`Approve ${wait.summary}? y, or the reason why not: `)
      try {
        if (reply === 'y') await ptc.approveCall(wait.token)
        else await ptc.denyCall(wait.token, reply || 'nobody approved it')
      } catch (error) {
        if (!(PtcError.isInstance(error) && tooLate.includes(error.code))) throw error
        console.log(error.message)
      }
    }
  }
}

/** A run of its own: one question, one answer. */
async function ask(question: string): Promise<void> {
  const run = await ptc.startAgent({ question })
  console.log(`run ${run.workflowId}`)
  await Promise.all([printStream(run), decideOnCalls(run)])
  const { status, answer } = await run.result()
  console.log(`${status}: ${answer}`)
}

/** A conversation: an answer to each line that is typed, until an empty one. */
async function talk(): Promise<void> {
  const conversation = ptc.conversation(`talk-${randomUUID()}`)
  const text = await readLine('> ')
  if (text === '') return
  // The first message starts the conversation.
  const first = await conversation.send(text)
  const printAnswers = async (): Promise<void> => {
    let message: SentMessage | undefined = first
    while (message !== undefined) {
      const { status, answer } = await message.answer()
      console.log(status === 'answered' ? answer : `The work on this message ended: ${status}`)
      const next = await readLine('> ')
      message = next === '' ? undefined : await conversation.send(next)
    }
    // Without this, the conversation waits for its next message, for months if need be.
    await conversation.close()
  }
  await Promise.all([printAnswers(), decideOnCalls(ptc.handle(conversation.workflowId))])
}

try {
  await ask(question)
  await talk()
} catch (error) {
  if (!PtcError.isInstance(error)) throw error
  console.error(`${error.code}: ${error.message}`)
  process.exitCode = 1
} finally {
  terminal.close()
  await connection.close()
}
