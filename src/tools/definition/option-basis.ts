import type { z } from 'zod'
import type { RemoteTarget } from '../../common/calls/tool-config.js'
import type { ToolDefinition } from '../tool-definition.js'
import type { Tool } from '../tool.js'
import type { InvalidError } from './invalid-tool.js'

/** A definition of any kind, before it is checked. */
export type AnyDefinition = Omit<
  ToolDefinition<z.ZodObject, z.ZodType>,
  'input' | 'output' | 'run' | 'deferred' | 'approval' | 'labels' | 'compensate' | 'lockBy'
> & {
  readonly input: unknown
  readonly output: unknown
  readonly run?: Tool['run']
  readonly deferred?: unknown
  readonly approval?: unknown
  readonly labels?: unknown
  readonly compensate?: unknown
  readonly lockBy?: unknown
  readonly activity?: unknown
  readonly workflow?: unknown
  readonly nexus?: unknown
}

/** What the options of a tool depend on. */
export interface OptionBasis {
  readonly definition: AnyDefinition
  readonly remote: RemoteTarget | undefined
  readonly input: z.ZodObject
  /** Makes the error of a wrong definition. */
  readonly invalid: InvalidError
}
