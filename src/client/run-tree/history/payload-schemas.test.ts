import { expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type { ToolActivityInput } from '../../../common/calls/call-activities.js'
import type { JsonValue } from '../../../common/json/json.js'
import type { TextParts } from '../../../common/agent/messages.js'
import type { ModelTurnInput, ModelTurnResult } from '../../../common/agent/model-turn.js'
import type { CallOutcome } from '../../../common/calls/outcomes.js'
import type { RunConfig } from '../../../common/run/run-config.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../../../common/run/runs.js'
import type { OpenedSession, OpenInput } from '../../../common/session/session.js'
import type { ExecuteStepInput, ExecuteStepResult } from '../../../common/session/steps.js'
import type { AgentState } from '../../../workflows/agent.js'
import type { ProgramState } from '../../../workflows/program.js'
import type * as schemas from './payload-schemas.js'

// `tsc` checks these tests. The tree drops a payload that does not match its schema, so a renamed field shows no error.

type DeepReadonly<Value> = JsonValue extends Value
  ? Value
  : string extends keyof Value
    ? Value
    : Value extends object
      ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
      : Value
type Accepted<Name extends keyof typeof schemas> = DeepReadonly<z.input<(typeof schemas)[Name]>>
type IsAccepted<Payload, Name extends keyof typeof schemas> = Extends<Payload, Accepted<Name>>
type Extends<Type, Base> = [Type] extends [Base] ? true : false
type KeyOfUnion<Union> = Union extends unknown ? keyof Union : never

it('the payload schemas accept the arguments and results of the workflows', () => {
  expectTypeOf<IsAccepted<AgentInput, 'agentInput'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<AgentResult, 'agentResult'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<ProgramInput, 'programInput'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<ProgramResult, 'programResult'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<AgentState | ProgramState, 'runState'>>().toEqualTypeOf<true>()
})

it('the payload schemas accept the inputs and results of the activities', () => {
  expectTypeOf<IsAccepted<RunConfig, 'runConfig'>>().toEqualTypeOf<true>()
  // Content blocks are any object with a type.
  type AcceptedReply = Accepted<'modelResult'>['reply']
  expectTypeOf<Extends<ModelTurnInput, Omit<Accepted<'modelInput'>, 'pending'>>>().toEqualTypeOf<true>()
  expectTypeOf<Extends<ModelTurnResult, Omit<Accepted<'modelResult'>, 'reply'>>>().toEqualTypeOf<true>()
  expectTypeOf<Extends<ModelTurnResult['reply'], Omit<AcceptedReply, 'content'>>>().toEqualTypeOf<true>()
  expectTypeOf<'pending'>().toExtend<keyof ModelTurnInput>()
  expectTypeOf<'content'>().toExtend<keyof ModelTurnResult['reply']>()
  expectTypeOf<IsAccepted<TextParts, 'textParts'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<OpenInput, 'openInput'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<OpenedSession, 'openResult'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<ExecuteStepInput, 'executeStepInput'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<ExecuteStepResult, 'stepResult'>>().toEqualTypeOf<true>()
  expectTypeOf<IsAccepted<ToolActivityInput, 'toolInput'>>().toEqualTypeOf<true>()
})

it('the payload schemas read only optional fields that exist', () => {
  expectTypeOf<Extends<keyof schemas.RunState, KeyOfUnion<AgentState | ProgramState>>>().toEqualTypeOf<true>()
  expectTypeOf<Extends<keyof schemas.DeliveredOutcome, KeyOfUnion<CallOutcome>>>().toEqualTypeOf<true>()
})
