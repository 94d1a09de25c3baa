/** A fetched page. */
export interface Page {
  /** After redirects. */
  readonly url: string
  readonly status: number
  /** Without parameters, such as `text/html`. */
  readonly contentType: string
  readonly title?: string
  readonly text: string
}
