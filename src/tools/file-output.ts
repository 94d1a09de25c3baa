import { z } from 'zod'
import { PtcError } from '../common/errors.js'
import { maxFileBytes } from '../common/files/files.js'
import { formatBytes } from '../common/text/format.js'
import { describeIssues } from './validation/describe-issues.js'

/** What a tool with `output: file()` returns. */
export interface FileResult {
  /** The name in the sandbox, without a folder: `chart.png`. */
  readonly name: string
  /** The bytes, a text, or the bytes in pieces of any size, which are read once: a response's `body`, for example. */
  readonly data: Uint8Array | string | AsyncIterable<Uint8Array>
  /** Default: the type of the declaration, or that of the content or the name. */
  readonly mediaType?: string | undefined
}

/** Options of {@link file}. */
export interface FileOutputOptions {
  /** The media type of all files of the tool, such as `'image/png'`. The model is told of it. */
  readonly mediaType?: string
  /** Most bytes of one file. Default 1 GB, and never more than `limits.tmpBytes` of the run. */
  readonly maxBytes?: number
}

/** The output of a tool that returns a file: `run` returns a {@link FileResult}, and code gets a path. */
export type FileOutput = z.ZodType<string, FileResult>

/** A media type without parameters. */
export const mediaTypePattern = /^[a-z0-9][\w!#$&^.+-]{0,99}\/[a-z0-9][\w!#$&^.+-]{0,99}$/i

const optionsSchema = z.strictObject({
  mediaType: z.string().regex(mediaTypePattern, "must be a media type such as 'image/png'").optional(),
  maxBytes: z
    .int()
    .min(1)
    .max(maxFileBytes, `must be at most ${maxFileBytes} (${formatBytes(maxFileBytes)})`)
    .optional(),
})

/** Any copy of this package recognizes the output. */
const marker: unique symbol = Symbol.for('durable-ptc.file-output')

/**
 * The `output` of a tool that returns a file. Code that calls the tool gets the path of the file in its sandbox; a model
 * that calls it directly sees an image, or reads a description of another file.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function file(options: FileOutputOptions = {}): FileOutput {
  const { data, error } = optionsSchema.safeParse(options)
  if (!data) throw new PtcError('CONFIG_INVALID', `file(): the options are invalid:\n${describeIssues(error)}`)
  const output = z.custom<FileResult>().transform(({ name }) => name)
  return Object.defineProperty(output, marker, { value: Object.freeze(data) })
}

/** Returns the options of an output that is a file; undefined for any other one. */
export function fileOutputOf(output: object): FileOutputOptions | undefined {
  return (output as { readonly [marker]?: FileOutputOptions })[marker]
}

/** Describes the result for the model. The description of a tool is the only part that all languages and callers have. */
export function describeFileOutput({ mediaType }: FileOutputOptions): string {
  return `The result is the path of a file in the sandbox${mediaType === undefined ? '' : ` (${mediaType})`}.`
}
