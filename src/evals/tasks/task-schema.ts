import { z } from 'zod'
import { taskModes } from '../../common/agent/task-modes.js'

/** Maximum characters of a text in a task file. */
const maxText = 100_000

const text = z.string().min(1).max(maxText)
const fileName = z
  .string()
  .min(1)
  .max(400)
  .refine((path) => !/^([/\\]|[A-Za-z]:)/.test(path) && !path.split(/[/\\]/).includes('..'), {
    error: 'must be a path inside of the folder of the task',
  })
const toolName = z.string().min(1).max(100)
const pattern = text.refine(isPattern, { error: 'is not a regular expression' })

/** In YAML, `contains: 42` is a number. */
const searched = z.union([text, z.number().transform(String)])
const texts = z.union([searched, z.array(searched).min(1)], { error: 'must be a text, or a list of texts' })

/** A place in a JSON value: `total` or `people.0.name`. The empty path is the whole value. */
const path = z.string().max(400).default('')

/** The checked value: the text of the answer, or its structured output. */
const target = z.enum(['answer', 'output']).optional()

const judge = z.strictObject({
  /** What a passing answer has. The judge gets it with the question and the answer. */
  criteria: text,
  /** Default: the model of `--judge-model`. */
  model: z.string().min(1).max(200).optional(),
})

const moduleFunction = z.strictObject({
  file: fileName,
  /** Name of the exported function. */
  export: z.string().min(1).max(100).default('check'),
})

const countBounds = z.strictObject({
  tool: toolName,
  /** Only calls with this status, such as `ok`. Default: all calls. */
  status: z.string().min(1).max(40).optional(),
  min: z.int().min(0).optional(),
  max: z.int().min(0).optional(),
})

const checkBase = { target, path }

/** One condition. A task passes when all its conditions hold. */
export const checkSchema = z
  .strictObject({
    ...checkBase,
    /** The value is equal to this one. A text is compared without surrounding white space. */
    equals: z.json().optional(),
    /** The answer contains each of these texts; upper and lower case are the same. */
    contains: texts.optional(),
    /** The answer contains none of these texts; upper and lower case are the same. */
    excludes: texts.optional(),
    /** The answer matches this regular expression. */
    matches: pattern.optional(),
    /** The value has at least these members; lists have the same length. */
    includesJson: z.json().optional(),
    /** The value is a number, or the last number of a text, near to this one. */
    number: z.strictObject({ value: z.number(), tolerance: z.number().min(0).default(0) }).optional(),
    /** Number of calls of a tool. */
    calls: countBounds.optional(),
    /** A function of a module: true, false, or `{ passed, reason }`. */
    module: moduleFunction.optional(),
    /** A program that the sandbox executes, with the answer in `input_data`. It passes when it ends without an error. */
    program: fileName.optional(),
    judge: judge.optional(),
  })
  .superRefine((check, context) => {
    const kinds = checkKinds.filter((kind) => check[kind] !== undefined)
    if (kinds.length === 1) return
    const message = kinds.length === 0 ? 'has no condition' : `has ${kinds.length} conditions (${kinds.join(', ')})`
    context.addIssue({ code: 'custom', message: `${message}; it needs exactly one of ${checkKinds.join(', ')}` })
  })

export const checkKinds = [
  'equals',
  'contains',
  'excludes',
  'matches',
  'includesJson',
  'number',
  'calls',
  'module',
  'program',
  'judge',
] as const

/** What the harness answers in place of a person. An answer is used for each waiting call that it fits. */
const humanAnswer = z
  .strictObject({
    tool: toolName,
    /** Only calls with a summary or arguments in which this text occurs. */
    contains: text.optional(),
    approve: z.literal(true).optional(),
    deny: text.optional(),
    result: z.json().optional(),
    fail: text.optional(),
  })
  .superRefine(({ approve, deny, result, fail }, context) => {
    if ([approve, deny, result, fail].filter((each) => each !== undefined).length === 1) return
    context.addIssue({ code: 'custom', message: 'needs exactly one of approve, deny, result, fail' })
  })

const message = z.strictObject({ role: z.enum(['user', 'assistant']), content: text })

const setup = z.strictObject({
  /** A module that exports `tools`, `agents` and `output`, each of them optional. */
  module: fileName.optional(),
  /** Names of the tools of the run: those of the module, and of the configuration. Default: those of the module. */
  tools: z.array(toolName).max(1_000).optional(),
  /** Name of an agent of the module or of the configuration. */
  agent: z.string().min(1).max(64).optional(),
  /** Instructions of the model. Default: as configured. */
  instructions: text.optional(),
  mode: z.enum(taskModes).optional(),
  /** Data for the code, in `input_data`. */
  input: z.json().optional(),
  /** A JSON file for `input_data`. */
  inputFile: fileName.optional(),
  /** Text files for `input_data`: an object with their contents by these paths. */
  files: z.array(fileName).min(1).max(200).optional(),
  /** Images and PDFs of the question. */
  attachments: z.array(fileName).min(1).max(20).optional(),
  context: z.record(z.string(), z.json()).default({}),
  /** Earlier messages of the conversation that the task resumes. */
  history: z.array(message).min(1).max(200).optional(),
})

const limits = z.strictObject({
  turns: z.int().min(1).default(25),
  toolCalls: z.int().min(1).default(500),
  /** Seconds in which this machine waits for the run. The run is then cancelled, and the task has failed. */
  seconds: z.number().positive().max(86_400).default(600),
  tokens: z.int().min(1).default(500_000),
  /** US dollars of one run, sub-agents included. */
  costUsd: z.number().positive().default(0.5),
})

/** A task file, before its files are read. */
export const taskSchema = z
  .strictObject({
    /** Default: the name of the folder or the file. */
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'has 1 to 60 lower-case letters, digits and -')
      .optional(),
    description: text.optional(),
    tags: z.array(z.string().min(1).max(40)).max(20).default([]),
    setup: setup.prefault({}),
    /** The question. A list: messages of one conversation, sent one after the other. */
    prompt: z.union([text, z.array(text).min(1).max(20)], { error: 'must be a text, or a list of up to 20 texts' }),
    answers: z.array(humanAnswer).max(100).default([]),
    check: z.array(checkSchema).min(1).max(50),
    limits: limits.prefault({}),
    /** Tools whose successful call shows that the model checked its work. */
    verifyWith: z.array(toolName).max(20).default([]),
    /** Replies of the scripted model, by the name of the script. `solution` must pass, and `wrong` must fail. */
    scripts: z.record(z.string().regex(/^[a-z][a-z0-9-]{0,39}$/), fileName).default({}),
  })
  .superRefine(({ setup: { input, inputFile, files, history, attachments, mode }, prompt }, context) => {
    const inputs = [input, inputFile, files].filter((each) => each !== undefined)
    const report = (where: string, problem: string): void =>
      context.addIssue({ code: 'custom', path: ['setup', where], message: problem })
    if (inputs.length > 1) report('input', 'only one of input, inputFile and files may be given')
    const isConversation = history !== undefined || Array.isArray(prompt)
    if (isConversation && attachments !== undefined) report('attachments', 'a conversation takes none')
    if (isConversation && mode !== undefined) report('mode', 'a conversation has no task mode')
  })

export type TaskFile = z.output<typeof taskSchema>
export type Check = z.output<typeof checkSchema>
export type HumanAnswer = TaskFile['answers'][number]
export type TaskLimits = TaskFile['limits']

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp
  } catch {
    return false
  }
}
