import { defined } from '../../common/defined.js'
import { programRoles } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { checkName } from '../../client/start/check-name.js'
import type { ExecuteOptions, SessionExecution } from '../../client/sessions/execute.js'
import { checkInput } from '../../client/start/check-input.js'
import { validateStart } from '../../client/start/start-options.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { listenForInterrupts, type Interrupts } from '../process/interrupts.js'
import { ProgressWriter, type ProgressWriterOptions } from '../rendering/progress/progress-writer.js'
import { supportsColor } from '../rendering/text/colors.js'
import { liveOutput, withoutCodeAndOutput } from '../run/follow-run.js'
import { WaitPrompt } from '../run/wait-prompt.js'
import { type CodeInSession, languageInSession } from './language-in-session.js'
import { languageOfProgram, type OverrideOptions, readRunData, readUploads, type RunData } from '../run/options.js'
import { openEnvironment, type Environment } from '../environment/environment.js'
import { raceWithExit } from '../environment/race-with-exit.js'
import { readText } from '../process/read-text.js'
import { executionFailureReport, printExecution } from './print-execution.js'
import { print } from '../process/stdio.js'

export interface SessionTarget extends Pick<CodeInSession, 'language' | 'cellLanguage'> {
  readonly session: string
  readonly sandbox?: BackendChoice | undefined
  readonly mustExist: boolean
}

/** Options of `ptc exec` for a session. */
export interface SessionOptions extends SessionTarget, Pick<OverrideOptions, keyof RunData> {
  readonly config?: string
}

/** Executes a file on a session and prints the outcome; returns the exit code. */
export async function execInSession(
  script: string,
  options: SessionOptions & { readonly json: boolean; readonly upload?: readonly string[] },
): Promise<number> {
  using interrupts = listenForInterrupts()
  const { session, config, sandbox, json } = options
  try {
    checkName('session', session)
    const source = await raceWithSignal(interrupts.first, readText(script))
    validateStart('program', source, {})
    const data = await readSessionData(options)
    const uploads = await readUploads(options.upload)
    await using environment = await openEnvironment({ config, sandbox, ifNoServer: 'start_with_worker', interrupts })
    await environment.requireWorkers(programRoles)
    const started = Date.now()
    const chosen = languageOfProgram(script, options.language)
    const inSession = chosen === undefined ? undefined : await languageInSession(environment, session, chosen)
    const { language, cellLanguage } = inSession ?? {}
    const target = { ...options, ...uploads, language, cellLanguage, data, content: 'everything' } as const
    const execution = await executeWithProgress(environment, interrupts, source, target)
    return printExecution(execution, json, Date.now() - started)
  } catch (thrown) {
    if (json) print(JSON.stringify(executionFailureReport(session, thrown)))
    throw thrown
  }
}

/**
 * Reads and checks the data of a session before the command starts a server or a worker.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readSessionData(options: Pick<SessionOptions, keyof RunData>): Promise<RunData> {
  const data = await readRunData(options)
  checkInput('execution', { source: '', ...data })
  return data
}

interface ExecutionOptions
  extends SessionTarget, Pick<ProgressWriterOptions, 'content'>, Pick<ExecuteOptions, 'files'> {
  /** Data for a new session. An existing session must already have it. */
  readonly data: RunData
}

/**
 * Executes code on a session with progress on stderr. The first Ctrl-C interrupts the code.
 *
 * @throws Interrupted on the second Ctrl-C; PtcError when the server or the worker exits; what executing throws
 */
export async function executeWithProgress(
  environment: Environment,
  { first, second }: Pick<Interrupts, 'first' | 'second'>,
  source: string,
  { session, sandbox, language, cellLanguage, mustExist, data, files, content }: ExecutionOptions,
): Promise<SessionExecution> {
  const progress = new ProgressWriter({
    stream: process.stderr,
    color: supportsColor(process.stderr),
    content,
  })
  // With -i, the code uses the terminal.
  const prompt = content === 'live' ? undefined : new WaitPrompt(environment.ptc, progress)
  const onInterrupt = (): void => progress.print('interrupting the code; press Ctrl-C again to leave it running')
  first.addEventListener('abort', onInterrupt)
  const executing = environment.ptc.sessions.execute(session, source, {
    mustExist,
    signal: first,
    onChange: (tree) => {
      progress.update(withoutCodeAndOutput(tree), liveOutput(tree))
      prompt?.update(tree)
    },
    ...data,
    ...defined({ sandbox, language, cellLanguage, files }),
  })
  const leaveMessage = `the code ${environment.howWorkContinues} in session ${session}; \`ptc sessions close ${session}\` stops it`
  try {
    return await raceWithExit(executing, environment, { leaveSignal: second, leaveMessage })
  } finally {
    first.removeEventListener('abort', onInterrupt)
    prompt?.close()
    progress.close()
  }
}
