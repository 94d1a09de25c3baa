import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import type { Attachment } from '../../common/conversation/attachments.js'
import type { FileUpload } from '../../common/files/files.js'
import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import { limitsSchema } from '../../config/options/limits.js'
import { parseModelSettings } from '../../models/options/model-settings.js'
import { runOptionFields } from '../../config/run/run-options.js'

const text = z.string()
const { agent, budget, input, mode, model, temperature, thinking, effort, session, environment, ...rest } =
  runOptionFields
const { activeSkills, files: _, image: __, ...others } = rest
const { clientTools, instructions, maxTokens, outputSchema, toolChoice, stopSequences, isPlain, ...common } = others

// `storeAttachments` checks each attachment, and `storeUploads` each file.
const attachments = z.array(z.custom<Attachment>()).optional()
const files = z.array(z.custom<FileUpload>()).optional()

const schemas = {
  agent: z.strictObject({
    question: text,
    attachments,
    agent,
    budget,
    model,
    mode,
    temperature,
    thinking,
    effort,
    input,
    session,
    activeSkills,
    files,
    ...common,
  }),
  conversation: z.strictObject({
    agent,
    budget,
    model,
    temperature,
    thinking,
    effort,
    input,
    clientTools,
    instructions,
    maxTokens,
    outputSchema,
    toolChoice,
    stopSequences,
    isPlain,
    session,
    activeSkills,
    files,
    ...common,
  }),
  program: z.strictObject({ source: text, model, input, files, ...common }),
  execution: z.strictObject({ source: text, cellLanguage: text.optional(), input, environment, ...common }),
  call: z.strictObject({
    tool: text,
    arguments: z.custom<JsonObject>(isJsonObject, 'not an object'),
    context: common.context,
  }),
} as const

/**
 * Rejects invalid input on the client, so that no run starts and fails.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkInput(kind: keyof typeof schemas, input: unknown): void {
  const schema = schemas[kind]
  if (typeof input === 'object' && input !== null) {
    checkKeys('the input', input, Object.keys(schema.shape))
    const limits: unknown = 'limits' in input ? input.limits : undefined
    if (typeof limits === 'object' && limits !== null) checkKeys('limits', limits, Object.keys(limitsSchema.shape))
  }
  const { error } = schema.safeParse(input)
  if (error) throw new PtcError('RUN_INPUT_INVALID', `the input is not valid:\n${z.prettifyError(error)}`)
  parseModelSettings(input, (problem) => {
    throw new PtcError('RUN_INPUT_INVALID', problem)
  })
}

/** @throws PtcError RUN_INPUT_INVALID */
export function checkKeys(subject: string, input: object, known: readonly string[]): void {
  const problem = describeUnknownKeys(input, known)
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', `${subject}: ${problem}`)
}
