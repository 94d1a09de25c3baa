import { readAttachments } from '../../client/attachments/read-attachments.js'
import type { Attachment } from '../../common/runs/attachments.js'
import type { JsonObject } from '../../common/json/json.js'
import type { BackendChoice } from '../../common/runs/run-config.js'
import type { ProgramInput } from '../../common/runs/runs.js'
import type { OverrideOptions } from '../commands/options.js'
import { readJson } from '../process/read-text.js'

/** Data for the code of a run or a session, and who asks. */
export type RunData = Pick<ProgramInput, 'input' | 'context'>

/** What a run or a conversation may have instead of the configuration. */
type Overrides = RunData & Pick<ProgramInput, 'sandbox' | 'tools' | 'limits'>

/**
 * Reads `--input` and `--context`. What is wrong with the values, `checkInput` says.
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
 * The files of `--attach`, checked before a server is started for them.
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
 * The overrides of a command line, with its data.
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
