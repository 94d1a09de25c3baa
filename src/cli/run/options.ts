import { checkUploads } from '../../client/files/store-uploads.js'
import { readAttachments } from '../../client/start/read-attachments.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import { defined } from '../../common/defined.js'
import type { FileUpload } from '../../common/files/files.js'
import type { JsonObject } from '../../common/json/json.js'
import type { ModelSettings } from '../../common/agent/model-settings.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { AgentInput, ProgramInput } from '../../common/run/runs.js'
import { languageOfFile, problemOfLanguage } from '../../languages/index.js'
import { loadConfigIfPresent } from '../environment/project.js'
import { readJson } from '../process/read-text.js'

/** The agent that answers, and where the model's code runs. */
export interface AgentOptions extends ModelSettings {
  readonly agent?: string
  readonly model?: readonly string[]
  /** Name of the session. */
  readonly session?: string
  /** Names of skills that are active from the start. */
  readonly skill?: readonly string[]
  /** Paths of files. */
  readonly attach?: readonly string[]
  readonly upload?: readonly string[]
}

/** The agent of a run, from the {@link AgentOptions} of the command line. */
export function chosenAgent(
  options: AgentOptions,
): Pick<AgentInput, 'agent' | 'model' | 'session' | 'activeSkills' | keyof ModelSettings> {
  const { agent, model, session, skill: activeSkills, temperature, thinking, effort } = options
  return defined({ agent, model, session, activeSkills, temperature, thinking, effort })
}

/** Options of a run that replace those of the configuration. */
export interface OverrideOptions {
  readonly language?: string
  readonly tools?: readonly string[]
  readonly limits?: Readonly<Record<string, number>>
  readonly input?: string
  readonly context?: string
}

/** Data for the code of a run or a session, and the person who asks. */
export type RunData = Pick<ProgramInput, 'input' | 'context'>

/** Options of a run or a conversation that replace the configuration. */
type Overrides = RunData & Pick<ProgramInput, 'sandbox' | 'language' | 'tools' | 'limits'>

/** The language of a program: that of `--language`, or that of its file by its name. Undefined: as configured. */
export function languageOfProgram(script: string | undefined, language: string | undefined): string | undefined {
  return language ?? (script === undefined ? undefined : languageOfFile(script)?.name)
}

/**
 * Reads `--input` and `--context`. `checkInput` checks the values later.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readRunData({ input, context }: Pick<OverrideOptions, keyof RunData>): Promise<RunData> {
  return {
    ...(input !== undefined && { input: await readJson(input, '--input') }),
    ...(context !== undefined && { context: (await readJson(context, '--context')) as JsonObject }),
  }
}

/**
 * Reads and checks the files of `--attach` before the command starts a server.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readAttachedFiles(files: readonly string[] = []): Promise<readonly Attachment[]> {
  const attachments = await readAttachments(files.map((file) => ({ file })))
  return attachments.map((each) => {
    if ('value' in each) return each
    const { base64, mediaType, name } = each
    return { data: base64, mediaType, ...defined({ name }) }
  })
}

/**
 * Checks the files of `--upload` before the command starts a server. The start of the run reads them.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readUploads(files: readonly string[] | undefined): Promise<{ readonly files?: FileUpload[] }> {
  if (files === undefined) return {}
  const uploads = files.map((file) => ({ file }))
  await checkUploads(uploads)
  return { files: uploads }
}

/**
 * Reads the overrides of a command line, with its data.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readOverrides({
  sandbox,
  language,
  tools,
  limits,
  config,
  ...data
}: OverrideOptions & { readonly sandbox?: BackendChoice; readonly config?: string }): Promise<Overrides> {
  // The configuration may define the language.
  if (language !== undefined && problemOfLanguage(language) !== undefined) await loadConfigIfPresent(config)
  return {
    ...defined({ sandbox, language, tools, limits }),
    ...(await readRunData(data)),
  }
}
