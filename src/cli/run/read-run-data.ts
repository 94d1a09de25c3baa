import { readAttachments } from '../../client/start/read-attachments.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import type { JsonObject } from '../../common/json/json.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import type { ProgramInput } from '../../common/run/runs.js'
import type { OverrideOptions } from '../commands/options.js'
import { readJson } from '../process/read-text.js'

/** Data for the code of a run or a session, and the person who asks. */
export type RunData = Pick<ProgramInput, 'input' | 'context'>

/** Options of a run or a conversation that replace the configuration. */
type Overrides = RunData & Pick<ProgramInput, 'sandbox' | 'tools' | 'limits'>

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
    return { data: base64, mediaType, ...(name !== undefined && { name }) }
  })
}

/**
 * Reads the overrides of a command line, with its data.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export async function readOverrides({
  sandbox,
  tools,
  limits,
  ...data
}: OverrideOptions & { readonly sandbox: BackendChoice | undefined }): Promise<Overrides> {
  return {
    ...(sandbox !== undefined && { sandbox }),
    ...(tools && { tools }),
    ...(limits && { limits }),
    ...(await readRunData(data)),
  }
}
