import type { z } from 'zod'
import { PtcError } from '../common/errors.js'
import type { Caller } from '../common/calls/calls.js'
import type { ToolConfig } from '../common/calls/tool-config.js'
import type { JsonObject } from '../common/json/json.js'
import type { NativeToolType } from '../common/agent/native-tools.js'
import type { FileOutputOptions } from './file-output.js'
import type { ToolContext } from './tool-context.js'
import type { ApprovalRule, Compensate, LabelResult, LockKey, RememberRule } from './tool-definition.js'

/** A checked tool, from {@link defineTool}. Immutable. */
export interface Tool<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodType = z.ZodType,
> extends ToolConfig {
  readonly description: string
  readonly input: Input
  readonly output: Output
  /** The schemas as JSON Schema (2020-12): of the data that a caller sends, and of the data that it receives. */
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  /** The input is a JSON Schema: its defaults are documentation, and are not added to the arguments. */
  readonly documentsDefaults?: true
  /**
   * Arguments that the schema refuses are repaired where it is clear what a model meant: an object or an array as its
   * JSON text, null for an option that is not set. For JSON Schemas of somebody else.
   */
  readonly repairsArguments?: true
  /** The callers whose prompt documents the tool: `allowedCallers` of the definition, or code. */
  readonly offeredTo: readonly Caller[]
  /** Decides which calls need approval. Undefined: all calls of a tool with `approval`. */
  readonly approvalRule?: ApprovalRule
  /** Undefined: an approval that is remembered covers the same arguments. */
  readonly rememberAs?: RememberRule
  /** Labels of every result. Undefined: none. */
  readonly labels?: readonly string[]
  /** Returns further labels of one result. */
  readonly labelResult?: LabelResult
  /** Later runs can read what a call is given. */
  readonly keepsArguments?: true
  /** Undefined for a tool without locks. */
  readonly lockBy?: LockKey
  /** Undefined for a tool without an inverse. */
  readonly compensate?: Compensate
  /**
   * `inputDigest` is that of the whole definition, and a call of a run that recorded another digest is refused: another
   * program, which may change it at any time, has the definition.
   */
  readonly refusesChanges?: true
  /** Set for a tool whose `run` returns a file. `output` is then no schema of its result. */
  readonly file?: FileOutputOptions
  /** Names of the credentials that `run` needs. */
  readonly credentials: readonly string[]
  readonly inputExamples: readonly JsonObject[]
  /**
   * The type by which the Messages API knows the tool: its models are trained on it. Undefined: the model knows the tool
   * only from its documentation.
   */
  readonly nativeType?: NativeToolType
  /** The definition's `summary`. May throw. */
  summarize?(input: z.output<Input>): string
  /** The context of a deferred tool is a {@link DeferredToolContext}, and its result is ignored. */
  run(input: z.output<Input>, context: ToolContext): z.input<Output> | Promise<z.input<Output>>
}

const marker: unique symbol = Symbol.for('durable-ptc.tool')

/** Freezes a tool, and marks it for {@link isTool} of any copy of this package. */
export function sealTool<T extends Tool>(tool: T): T {
  return Object.freeze(Object.defineProperty(tool, marker, { value: true }))
}

export function isTool(value: unknown): value is Tool {
  return typeof value === 'object' && value !== null && marker in value
}

/** @throws PtcError CONFIG_INVALID for an object that is not from defineTool */
export function requireTool(value: unknown, where: string): Tool {
  if (isTool(value)) return value
  throw new PtcError('CONFIG_INVALID', `${where} is not a tool`, { hint: 'Make it with defineTool({ … }).' })
}
