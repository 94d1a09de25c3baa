import type { PageText } from '../content/html-text.js'

/** Work on content of a server whose cost the server decides. */
export type ThreadJob =
  | { readonly kind: 'html'; readonly html: string; readonly base: string; readonly maxCharacters: number }
  | { readonly kind: 'pdf'; readonly bytes: Uint8Array<ArrayBuffer>; readonly maxCharacters: number }
  | { readonly kind: 'robots'; readonly rules: string; readonly url: string; readonly userAgent: string }

/** The result of each kind of work. */
export interface ThreadResults {
  readonly html: PageText
  readonly pdf: PageText
  /** Whether the rules allow the URL. */
  readonly robots: boolean
}

/** The one message of the thread. */
export type ThreadMessage =
  | { readonly type: 'done'; readonly result: ThreadResults[ThreadJob['kind']] }
  /** The package for the job is not installed. */
  | { readonly type: 'missing' }
  | { readonly type: 'failed'; readonly reason: string }
