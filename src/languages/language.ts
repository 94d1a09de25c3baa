import type { SharedSessionOwner } from '../common/agent/model-turn.js'
import type { JsonObject, JsonValue } from '../common/json/json.js'
import type { Limits } from '../common/run/limits.js'
import type { PackageKind, SandboxContents } from '../common/run/sandbox-image.js'

/** A language of programs: everything that depends on it, except its runner in `runner/NAME`. */
export interface Language {
  /** The name in recorded runs, and of code blocks in Markdown. */
  readonly name: string
  /** The name for people. */
  readonly title: string
  /** The ending of names of files with code. */
  readonly extension: `.${string}`
  /** Other endings of names of files with code of the language. */
  readonly otherExtensions?: readonly `.${string}`[]
  /** The program that executes the language in an image, for people, and the command that prints its version. */
  readonly program: { readonly title: string; readonly version: readonly string[] }
  /** The packages that programs of the language import. Undefined: none. */
  readonly packageKind?: PackageKind
  /** Starts the runner, which gets a cell as its source text. */
  readonly runner: Runner
  readonly repl: Repl
  /** The embedded sandbox has an interpreter of the language. Undefined: it has none. */
  readonly embedded?: EmbeddedLanguage
  /** A cell keeps nothing for later cells, so that the language can't be the first one of a run. */
  readonly isStateless?: true
  /** Nobody writes the language: a part of the engine does. No text for the model or for people names it. */
  readonly isInternal?: true
  /** Undefined: no API of a model provider executes the language. */
  readonly hosted?: HostedLanguage
  /** Returns whether a function of a tool must not have this name: a keyword, or a name that programs use. */
  isReservedName(name: string): boolean
  /**
   * Starts the documentation of a list of tools. The stubs of a list belong together in order: a shared type is
   * declared in the first stub that needs it.
   */
  documentTools(): DocumentTool
  /** Takes a stub apart: the declarations of types in front of its function. */
  splitStub(stub: string): SplitStub
  /** Describes the environment of a cell for the model: what is executed, what is returned, and the limits. */
  describeEnvironment(limits: EnvironmentLimits, environment: Environment): string
  /** Describes how code calls tools, and how a failed call reads; with the stubs of the tools. */
  describeTools(stubs: readonly string[], options: ToolsOptions): string
  /**
   * Describes the language in one or two sentences, for a run that has it besides its first language: how its code
   * prints and calls tools.
   *
   * @param example a call of a tool, which the text shows in the language. Undefined: code can call no tools.
   */
  describeAsFurther(example: ExampleCall | undefined): string
  /** A tool in one line of code with a comment; without one for an empty summary. */
  summarizeTool(codeName: string, parameters: readonly string[], summary: string): string
  /** Describes the type and size of a value of a program. Of the content, the text has only the names of members. */
  describeValue(value: JsonValue): string
  /** The names of the functions that a text calls, if it consists of calls. Empty for any other text. */
  callsIn(text: string): readonly string[]
}

/**
 * How a sandbox starts the runner. Its files are those in `runner/FOLDER` with the ending of `entry`; the image has them
 * in `/opt/durable-ptc/FOLDER`.
 */
export interface Runner {
  /** The path of the interpreter in the image, and its arguments before the file. */
  readonly interpreter: readonly string[]
  /** The folder of the runner. Default: the name of the language. */
  readonly folder?: string
  /** The file that the interpreter executes, in the folder of the runner. */
  readonly entry: string
  /** The arguments after the file. */
  readonly arguments?: readonly string[]
  /** The environment variables that the runner needs, besides those of every sandbox. */
  readonly environment: Readonly<Record<string, string>>
  /** A folder in memory that only the user of the sandbox may read, besides `/tmp`. */
  readonly privateFolder?: string
  /** The runner needs the descriptions and the JSON Schemas of the tools. */
  readonly needsSchemas?: true
  /** What the dispatcher needs to execute cells of the language itself. Undefined: it starts this runner for them. */
  readonly dispatched?: JsonObject
}

/** A language in the embedded sandbox. */
export interface EmbeddedLanguage {
  /** Code can have files: those of skills, uploads, and artifacts. */
  readonly hasFiles: boolean
  /** The worker has to remove types, which not every version of Node.js can. */
  readonly removesTypes?: true
}

/** How people type code, block by block. */
export interface Repl {
  readonly prompts: { readonly first: string; readonly next: string }
  /** What the tab key types at the begin of a line. */
  readonly indentation: string
  /** Names that the tab key completes, besides those of tools. */
  readonly names: readonly string[]
  /** Whether the lines are a complete block. Invalid code is complete: the runner reports the error. */
  isCompleteBlock(lines: readonly string[]): boolean
  /** Whether the line can only continue a block, even after an empty line. */
  continuesBlock(line: string): boolean
  /** Makes a block that is one expression print its value. Returns other blocks unchanged. */
  displayValueOf(block: string): string
}

/** The texts for code that the API of a model provider executes (`sandbox: 'anthropic'`). */
export interface HostedLanguage {
  /** Describes the environment, and how code calls tools. */
  readonly guidance: string
  /** Describes the result of a tool by its stub. Undefined: the stub has no type of the result. */
  describeResult(stub: string): string | undefined
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

export interface SplitStub {
  /** The texts of the declared types, by their names. */
  readonly types: readonly (readonly [name: string, text: string])[]
  /** The function. */
  readonly body: string
}

/** The limits that the model is told. */
export type EnvironmentLimits = Pick<Limits, 'cellSeconds' | 'outputCharacters' | 'callsPerCell'>

/** A call of a tool, for a text in which each language writes it in its own way. */
export interface ExampleCall {
  /** The name of the function. */
  readonly codeName: string
  readonly input: JsonObject
}

export interface Environment {
  /** What programs find in the sandbox. Undefined: unknown, and `hasPackages` is what is known. */
  readonly contents?: SandboxContents | undefined
  /** The sandbox may have more than the standard library. */
  readonly hasPackages?: boolean | undefined
  /** The sandbox is the embedded one. */
  readonly isEmbedded?: boolean | undefined
  /** Describes the data that came with the question. Undefined: there is none. */
  readonly inputDescription?: string | undefined
  /** Describes the hosts that code may reach. Undefined: none. */
  readonly networkDescription?: string | undefined
  /** The session whose variables code also sees. */
  readonly sharedSession?: SharedSessionOwner | undefined
}

export interface ToolsOptions {
  /** Each stub has only one line, and the model searches the documentation. */
  readonly toolSearch?: boolean | undefined
  /** Some lines are an example for many tools. */
  readonly isGrouped?: boolean | undefined
  /** A call of a tool. Undefined: code can call no tools. */
  readonly example?: ExampleCall | undefined
  /** No parameter of a tool is a number. Undefined: some may be. */
  readonly takesNoNumbers?: boolean | undefined
  /** No tool has effects that must not happen twice. Undefined: some may. */
  readonly isRepeatable?: boolean | undefined
  /** Some stubs have no documentation, because the model already has the documentation of these tools. */
  readonly hasSignatures?: boolean | undefined
}
