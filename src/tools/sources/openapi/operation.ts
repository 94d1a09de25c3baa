import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import type { UsedScheme } from './document/security.js'

export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const

export type Method = (typeof methods)[number]

export type ParameterLocation = 'path' | 'query' | 'header' | 'cookie'

export type Style = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject'

/** How the text of a parameter, or of a member of a form, is made of its value. */
export interface Serialization {
  readonly style: Style
  readonly explode: boolean
  /** Characters such as `/` and `:` stay as they are. */
  readonly allowReserved: boolean
}

export interface Parameter {
  /** Name of the argument of the tool. Unique in its operation. */
  readonly argument: string
  /** Name in the request. */
  readonly name: string
  readonly location: ParameterLocation
  readonly isRequired: boolean
  /** `json`: the value is sent as JSON, in place of a style. */
  readonly serialization: Serialization | 'json'
  /** A value in the path may have several segments. */
  readonly isMultiSegment: boolean
}

/** How a member of a form is sent. */
export interface FormMember {
  readonly serialization?: Serialization
  readonly contentType?: string
  /** The argument is Base64, and the bytes are sent. */
  readonly isBinary: boolean
}

export type Body =
  | { readonly kind: 'json' | 'text' | 'binary'; readonly contentType: string }
  | {
      readonly kind: 'form' | 'multipart'
      readonly contentType: string
      /** By names of members that are not sent in the usual way. */
      readonly members: ReadonlyMap<string, FormMember>
    }

/** An operation of a document, with everything that a request needs. */
export interface Operation {
  /** `GET /pets/{id}`: unique in its document. */
  readonly key: string
  /** `operationId`; without one, made of method and path. Several operations may have the same. */
  readonly id: string
  readonly method: Method
  /** The template. */
  readonly path: string
  /** A query that the template has, as it is sent. */
  readonly query: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly body: Body | undefined
  /** Without a slash at its end. */
  readonly baseUrl: string
  readonly schemes: readonly UsedScheme[]
  /** Schema of the arguments, with the schemas that it refers to in `$defs`. */
  readonly inputSchema: JsonObject
  /** What a response has, for readers: not everything is described, and nothing is checked. */
  readonly outputSchema: JsonObject
}

/** Name of the argument with the body of a request. */
export const bodyArgument = 'body'

export type Arguments = Readonly<Record<string, JsonValue>>
