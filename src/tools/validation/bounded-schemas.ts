import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../common/json/json.js'
import { measureJson } from './measure-json.js'

/** A JSON object. Its size is checked before anything else reads its members. */
export const jsonObject = (maxBytes: number) =>
  z
    .custom<JsonObject>(isJsonObject, 'not an object')
    .superRefine((value, context) => addJsonIssue(value, maxBytes, context))

/** The length of a list is checked before its elements. */
export const listOf = <Element extends z.ZodType>(element: Element, max: number) =>
  z
    .custom<readonly z.input<Element>[]>((value) => !Array.isArray(value) || value.length <= max, `at most ${max}`)
    .pipe(z.array(element))

export function addJsonIssue(value: unknown, maxBytes: number, context: z.core.$RefinementCtx): void {
  const measured = measureJson(value, maxBytes)
  if (measured.type === 'too_large') context.addIssue(`at most ${maxBytes} bytes of JSON`)
  if (measured.type === 'not_json')
    context.addIssue(`not JSON${measured.path && ` at ${measured.path}`}: ${measured.reason}`)
}
