import type { Caller } from '../common/calls.js'
import type { JsonObject } from '../common/json.js'
import { PythonClasses } from './python-classes.js'
import { pythonStub } from './python-stub.js'
import type { Tool } from './tool.js'

/** What a model is told of a tool. */
export interface ToolDocumentation {
  readonly name: string
  readonly description: string
  readonly allowedCallers: readonly Caller[]
  /** Arguments, as JSON Schema with `type: 'object'`. */
  readonly inputSchema: JsonObject
  readonly inputExamples: readonly JsonObject[]
  /**
   * The tool as a Python function with types and docstring, for code. Stubs of one list are read together, in its order:
   * a class that several need stands with the first.
   */
  readonly stub: string
}

/** The documentation of tools that are told of together, in their order. */
export function documentTools(tools: readonly Tool[]): readonly ToolDocumentation[] {
  const classes = new PythonClasses()
  return tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    allowedCallers: tool.allowedCallers,
    inputSchema: tool.inputSchema,
    inputExamples: tool.inputExamples,
    // Code never reads the stub of a tool it can't call, so nothing it needs may stand there.
    stub: pythonStub(tool, tool.allowedCallers.includes('code_execution') ? classes : new PythonClasses()),
  }))
}

/** One tool's stub with all it needs, for a reader who sees no other. */
export function documentAlone(tool: Tool): string {
  return pythonStub(tool, new PythonClasses())
}
