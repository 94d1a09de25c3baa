import { z } from 'zod'
import { messageOf, PtcError } from '../common/errors.js'
import type { BudgetItem } from '../common/runs/budget.js'
import type { JsonObject, JsonValue } from '../common/json/json.js'
import type { ClientTool } from '../common/runs/client-tools.js'
import { backendNamePattern, entityNamePattern } from '../common/names.js'
import { maxContextBytes, type RunConfigInput } from '../common/runs/runs.js'
import { taskModes } from '../common/runs/task-modes.js'
import { describeUnknownKeys } from '../common/text/unknown-keys.js'
import { clientRegistry } from '../tools/client-tools.js'
import { describeIssues } from '../tools/validation/describe-issues.js'
import { measureJson } from '../tools/validation/measure-json.js'
import { budgetSchema } from './budget-schema.js'
import { limitsSchema } from './limits-schema.js'
import { modelSettingFields } from './model-settings-schema.js'

const name = z.string().min(1)

/** Not `z.json()`, which tries each member of a union for each value. */
const jsonObject = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'not an object')
  .superRefine((value, context) => addJsonIssue(value, Infinity, context))

const clientTool = z.strictObject({
  name,
  description: z.string(),
  inputSchema: jsonObject,
  inputExamples: z.array(jsonObject).exactOptional(),
  allowedCallers: z.array(z.enum(['direct', 'code_execution'])).min(1),
} satisfies { readonly [Key in keyof ClientTool]-?: z.ZodType })

function addToolIssue(tools: readonly ClientTool[], context: z.core.$RefinementCtx): void {
  try {
    clientRegistry(tools)
  } catch (thrown) {
    context.addIssue(messageOf(thrown))
  }
}

/** Options of a run, as a client, a workflow of a user or another program may send them. */
export const runOptionFields = {
  agent: name.optional(),
  model: z.union([name, z.array(name).min(1)]).optional(),
  ...modelSettingFields,
  sandbox: z.string().regex(backendNamePattern, 'not the name of a sandbox').optional(),
  limits: limitsSchema.partial().optional(),
  budget: budgetSchema.optional(),
  mode: z.enum(taskModes).optional(),
  clientTools: z.array(clientTool).superRefine(addToolIssue).optional(),
  instructions: z.string().optional(),
  maxTokens: z.int().min(1).optional(),
  tools: z.array(name).optional(),
  session: z.string().regex(entityNamePattern, "can't be the name of a session").optional(),
  context: z
    .custom<JsonObject>(
      (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
      'not an object',
    )
    .superRefine((value, context) => addJsonIssue(value, maxContextBytes, context))
    .optional(),
  input: z
    .custom<JsonValue>(() => true)
    .superRefine((value, context) => {
      if (value !== undefined) addJsonIssue(value, Infinity, context)
    })
    .optional(),
} as const satisfies { readonly [Key in Exclude<keyof RunConfigInput, 'lease' | 'sandboxOwner'>]-?: z.ZodType }

function addJsonIssue(value: unknown, maxBytes: number, context: z.core.$RefinementCtx): void {
  const measured = measureJson(value, maxBytes)
  if (measured.type === 'too_large') context.addIssue(`at most ${maxBytes} bytes of JSON`)
  if (measured.type === 'not_json')
    context.addIssue(`not JSON${measured.path && ` at ${measured.path}`}: ${measured.reason}`)
}

const amount = z.number().positive().optional()

/** Only another run starts a sub-agent. */
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

const sandboxOwner = z.strictObject({ workflowId: name, key: name })

const schema = z.object({ ...runOptionFields, lease: lease.optional(), sandboxOwner: sandboxOwner.optional() })

/** Runs of other clients may have the whole input of their workflow. */
const otherKeys = ['question', 'source']

/**
 * Checks the options of a run in activity `run.config`: not every run is started by our client.
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
