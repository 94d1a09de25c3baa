import type { SharedSessionOwner } from '../common/agent/model-turn.js'
import type { JsonObject } from '../common/json/json.js'
import type { Limits } from '../common/run/limits.js'

/** A language of programs: everything outside the sandbox that depends on it. */
export interface Language {
  /** The name, also of code blocks in Markdown. Its runner is in `runner/NAME`, which gets a cell as its source text. */
  readonly name: string
  /** Returns whether a function of a tool must not have this name: a keyword, or a name that programs use. */
  isReservedName(name: string): boolean
  /**
   * Starts the documentation of a list of tools. The stubs of a list belong together in order: a shared type is
   * declared in the first stub that needs it.
   */
  documentTools(): DocumentTool
  /** Describes the environment of a cell for the model: what is executed, what is returned, and the limits. */
  describeEnvironment(limits: EnvironmentLimits, environment: Environment): string
  /** Describes how code calls tools, and how a failed call reads; with the stubs of the tools. */
  describeTools(stubs: readonly string[], options: ToolsOptions): string
}

/**
 * Renders the stub of a tool.
 *
 * @param codeName name of the function
 */
export type DocumentTool = (tool: DocumentedTool, codeName?: string) => ToolStub

/** The properties of a tool that a stub shows. */
export interface DocumentedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject
  readonly inputExamples: readonly JsonObject[]
}

export interface ToolStub {
  /** The tool as a function with types and documentation, and without a body. */
  readonly stub: string
  /** The stub without its documentation. */
  readonly signature: string
}

/** The limits that the model is told. */
export type EnvironmentLimits = Pick<Limits, 'cellSeconds' | 'outputCharacters' | 'callsPerCell'>

export interface Environment {
  /** The sandbox may have more than the standard library. */
  readonly hasPackages?: boolean | undefined
  /** Describes the data that came with the question. Undefined: there is none. */
  readonly inputDescription?: string | undefined
  /** The session whose variables code also sees. */
  readonly sharedSession?: SharedSessionOwner | undefined
}

export interface ToolsOptions {
  /** Each stub has only one line, and the model searches the documentation. */
  readonly toolSearch?: boolean | undefined
  /** Some stubs have no documentation, because the model already has the documentation of these tools. */
  readonly hasSignatures?: boolean | undefined
}
