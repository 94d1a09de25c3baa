import type { ApprovalOptions, ApprovalRule } from '../tool-definition.js'

/** `approval` of a built-in tool: as for `defineTool`, which checks it. */
export type ApprovalOption<Input> = 'never' | 'always' | ApprovalRule<Input> | ApprovalOptions<Input>
