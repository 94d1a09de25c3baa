import { z } from 'zod'
import { messageOf, PtcError } from '../../common/errors.js'
import type { BudgetItem } from '../../common/budget/budget.js'
import { type FileUpload, problemOfUploads } from '../../common/files/files.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { type ClientTool, clientToolLimits } from '../../common/calls/client-tools.js'
import type { ToolChoice } from '../../common/agent/model-settings.js'
import { backendNamePattern, entityNamePattern } from '../../common/names.js'
import { maxContextBytes, type RunConfigInput } from '../../common/run/runs.js'
import { taskModes } from '../../common/agent/task-modes.js'
import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import { checkClientSchema, clientRegistry, clientToolSchema } from '../../tools/sources/client-tools.js'
import { imageFields } from '../../sandbox/image-option.js'
import { addJsonIssue, jsonObject, listOf } from '../../tools/validation/bounded-schemas.js'
import { describeIssues } from '../../tools/validation/describe-issues.js'
import { budgetSchema } from '../options/budget.js'
import { languageOption } from '../options/language.js'
import { limitsSchema } from '../options/limits.js'
import { networkOrNone } from '../options/network.js'
import { modelSettingFields } from '../../models/options/model-settings.js'

const name = z.string().min(1)

const boundedObject = jsonObject(clientToolLimits.bytes)

function addToolIssue(tools: readonly ClientTool[], context: z.core.$RefinementCtx): void {
  try {
    clientRegistry(tools)
  } catch (thrown) {
    context.addIssue(messageOf(thrown))
  }
}

function addSchemaIssue(schema: JsonObject, context: z.core.$RefinementCtx): void {
  try {
    checkClientSchema(schema)
  } catch (thrown) {
    context.addIssue(messageOf(thrown))
  }
}

const isSingle = z.literal(true).exactOptional()
const toolChoice: z.ZodType<ToolChoice> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.enum(['auto', 'any', 'none']), isSingle }),
  z.strictObject({ type: z.literal('tool'), name, isSingle }),
])

const maxStopSequences = 100
const maxActiveSkills = 20

/** Options of a run that a client, a workflow of a user or another program may send. */
export const runOptionFields = {
  agent: name.optional(),
  model: z.union([name, z.array(name).min(1)]).optional(),
  ...modelSettingFields,
  sandbox: z.string().regex(backendNamePattern, 'not the name of a sandbox').optional(),
  language: languageOption.optional(),
  limits: limitsSchema.optional(),
  network: networkOrNone.optional(),
  budget: budgetSchema.optional(),
  mode: z.enum(taskModes).optional(),
  clientTools: listOf(clientToolSchema, clientToolLimits.count).superRefine(addToolIssue).optional(),
  instructions: z.string().optional(),
  maxTokens: z.int().min(1).optional(),
  outputSchema: boundedObject.superRefine(addSchemaIssue).optional(),
  toolChoice: toolChoice.optional(),
  stopSequences: listOf(name, maxStopSequences).optional(),
  isPlain: z.literal(true).optional(),
  tools: z.array(name).optional(),
  session: z.string().regex(entityNamePattern, "can't be the name of a session").optional(),
  activeSkills: listOf(name, maxActiveSkills).optional(),
  environment: z.literal(true).optional(),
  image: z.strictObject(imageFields).optional(),
  context: jsonObject(maxContextBytes).optional(),
  files: z
    .custom<readonly FileUpload[]>(Array.isArray, 'not a list')
    .superRefine((value, context) => {
      const problem = problemOfUploads(value, Infinity)
      if (problem !== undefined) context.addIssue(problem)
    })
    .optional(),
  input: z
    .custom<JsonValue>(() => true)
    .superRefine((value, context) => {
      if (value !== undefined) addJsonIssue(value, Infinity, context)
    })
    .optional(),
} as const satisfies { readonly [Key in Exclude<keyof RunConfigInput, SubagentOption>]-?: z.ZodType }

/** Options that only another run gives, to its sub-agents. */
type SubagentOption = 'lease' | 'sandboxOwner' | 'isClone'

const amount = z.number().positive().optional()

/** The lease of a sub-agent. Only another run starts a sub-agent. */
const lease = z.strictObject({
  key: name,
  amounts: z.strictObject({
    costUsd: amount,
    tokens: amount,
    turns: amount,
    toolCalls: amount,
    seconds: amount,
  } satisfies { readonly [Item in BudgetItem]: z.ZodType }),
})

const sandboxOwner = z.strictObject({
  workflowId: name,
  key: name,
  image: z.strictObject(imageFields).exactOptional(),
})

const schema = z.object({
  ...runOptionFields,
  lease: lease.optional(),
  sandboxOwner: sandboxOwner.optional(),
  isClone: z.literal(true).optional(),
} satisfies { readonly [Key in keyof RunConfigInput]-?: z.ZodType })

/** Other members of a workflow's input. Other clients may send the whole input. */
const otherKeys = ['question', 'source']

/**
 * Checks the options of a run in activity `run.config`, because a run may be started without the client of durable-ptc.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkRunOptions(options: RunConfigInput): void {
  const problem =
    typeof options === 'object' && options !== null
      ? describeUnknownKeys(options, [...Object.keys(schema.shape), ...otherKeys])
      : undefined
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', `the options of the run: ${problem}`)
  const { error } = schema.safeParse(options)
  if (error) throw new PtcError('RUN_INPUT_INVALID', `the options of the run are not valid:\n${describeIssues(error)}`)
}
