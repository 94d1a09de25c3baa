import { z } from 'zod'
import { sampleStates } from '../samples/sample.js'

const number = z.number()
const nullable = z.number().nullable()
const text = z.string().nullable()

/** An eval, as the table has it. Another version of this package, or a person, may have written it. */
export const evalRecord = z.object({
  id: z.string(),
  key: z.string(),
  number,
  label: z.string(),
  version: z.string(),
  repeats: number,
  max_cost_usd: nullable,
  created_at: number,
  finished_at: nullable,
  owner: text,
  owner_pid: nullable,
  owner_host: text,
  alive_at: nullable,
})

export const armRecord = z.object({
  number,
  name: z.string(),
  model: z.string(),
  system_file: text,
  digest: z.string(),
})

export const sampleRecord = z.object({
  key: z.string(),
  position: number,
  task: z.string(),
  task_digest: z.string(),
  arm: number,
  repeat: number,
  state: z.enum(sampleStates),
  attempt: number,
  workflow_id: text,
  kind: text,
  reason: text,
  turns: nullable,
  cells: nullable,
  tool_calls: nullable,
  input_tokens: nullable,
  output_tokens: nullable,
  cache_read_tokens: nullable,
  cache_write_tokens: nullable,
  cost_usd: nullable,
  judge_cost_usd: nullable,
  spent_usd: number,
  reserved_usd: number,
  milliseconds: nullable,
  verified: nullable,
  interrupted: number,
  timed_out_at: nullable,
  started_at: nullable,
  ended_at: nullable,
})

export type EvalRecord = Readonly<z.output<typeof evalRecord>>
export type ArmRecord = Readonly<z.output<typeof armRecord>>
export type SampleRecord = Readonly<z.output<typeof sampleRecord>>
