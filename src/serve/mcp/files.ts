import { buffer } from 'node:stream/consumers'
import { basename } from 'node:path/posix'
import {
  type CallToolResult,
  type ContentBlock,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type Server,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { LostFile, PtcClient, RunFiles, StoredFile } from '../../client/index.js'
import { isImageType } from '../../common/conversation/attachments.js'
import { PtcError } from '../../common/errors.js'
import { findFile } from '../../common/files/files.js'
import { formatBytes } from '../../common/text/format.js'
import type { McpHost } from './host.js'

/*
 * Files of runs and sessions as resources. A result links to the artifacts of its work; small images are also in it,
 * because the models of most hosts can't read a resource.
 */

const scheme = 'ptc-file:///'

/** Base64 makes 4 MiB of it. */
const maxResourceBytes = 3 * 1024 * 1024

/** Images of one result. */
const images = { count: 4, bytes: 512 * 1024 } as const

const readMs = 30_000

/** The artifacts of work. */
export interface WorkFiles {
  readonly workflowId: string
  readonly files: readonly StoredFile[] | undefined
  readonly lost?: readonly LostFile[] | undefined
}

/** Adds links to artifacts to a result. */
export async function withFiles(
  result: CallToolResult,
  ptc: PtcClient,
  { workflowId, files = [], lost = [] }: WorkFiles,
): Promise<CallToolResult> {
  if (files.length === 0 && lost.length === 0) return result
  const links = files.map((file): ContentBlock => ({ type: 'resource_link', ...resourceOf(workflowId, file) }))
  const notes = lost.map(({ path, problem }): ContentBlock => ({ type: 'text', text: `not kept: ${path}: ${problem}` }))
  const shown = files.filter(isShown).slice(0, images.count)
  const ofRun = ptc.handle(workflowId).files
  const blocks = await Promise.all(shown.map((file) => imageOf(ofRun, file)))
  return { ...result, content: [...result.content, ...notes, ...links, ...blocks.flat()] }
}

function isShown({ mediaType, bytes }: StoredFile): boolean {
  return isImageType(mediaType) && bytes <= images.bytes
}

/** Returns no block for an image that can't be read: the link tells of the problem when it is read. */
async function imageOf(files: RunFiles, file: StoredFile): Promise<readonly ContentBlock[]> {
  try {
    const data = await buffer(files.read(file, { signal: AbortSignal.timeout(readMs) }))
    return [{ type: 'image', data: data.toString('base64'), mimeType: file.mediaType }]
  } catch {
    return []
  }
}

function resourceOf(workflowId: string, { path, mediaType, bytes }: StoredFile): Resource {
  const parts = [workflowId, ...path.split('/').slice(1)]
  return {
    uri: scheme + parts.map(encodeURIComponent).join('/'),
    name: basename(path),
    mimeType: mediaType,
    size: bytes,
  }
}

/** @throws ResourceNotFoundError */
function parseUri(uri: string): { readonly workflowId: string; readonly path: string } {
  if (!uri.startsWith(scheme) || !URL.canParse(uri)) throw new ResourceNotFoundError(uri)
  try {
    const [workflowId = '', ...path] = uri.slice(scheme.length).split('/').map(decodeURIComponent)
    return { workflowId, path: `/${path.join('/')}` }
  } catch {
    throw new ResourceNotFoundError(uri)
  }
}

const maxLinks = 1_000

/** The files to which the latest results of a server link. A host that lists resources gets them. */
export class LinkedFiles {
  readonly #byUri = new Map<string, Resource>()

  add({ content }: CallToolResult): void {
    for (const block of content) {
      if (block.type !== 'resource_link') continue
      const { type: _, ...resource } = block
      this.#byUri.delete(resource.uri)
      this.#byUri.set(resource.uri, resource)
    }
    for (const uri of [...this.#byUri.keys()].slice(0, -maxLinks)) this.#byUri.delete(uri)
  }

  get all(): readonly Resource[] {
    return [...this.#byUri.values()]
  }
}

const template = {
  name: 'file',
  title: 'A file of a run',
  description: 'A file of a run or a session, by the id of its workflow, which is percent-encoded, and its path.',
  uriTemplate: `${scheme}{id}{/path*}`,
}

const readParams = z.looseObject({ uri: z.string().max(10_000) })

/** Answers requests about resources. */
export function registerResources(server: Server, { ptc }: Pick<McpHost, 'ptc'>, linked: LinkedFiles): void {
  server.setRequestHandler('resources/list', () => ({ resources: [...linked.all] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [template] }))
  server.setRequestHandler('resources/read', async ({ params }, { mcpReq }) => {
    const { uri } = readParams.parse(params)
    return readFile(ptc, uri, mcpReq.signal)
  })
}

/** @throws ProtocolError */
async function readFile(ptc: PtcClient, uri: string, signal: AbortSignal): Promise<ReadResourceResult> {
  const { workflowId, path } = parseUri(uri)
  const { files } = ptc.handle(workflowId)
  try {
    const file = findFile(await files.list(), path)
    if (!file) throw new ResourceNotFoundError(uri)
    const { bytes, mediaType: mimeType } = file
    if (bytes > maxResourceBytes)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `the file has ${formatBytes(bytes)}, more than a resource may have: \`ptc files get ${workflowId} ${path}\` gets it`,
      )
    const content = await buffer(files.read(file, { signal }))
    return { contents: [{ uri, mimeType, ...(textOf(mimeType, content) ?? { blob: content.toString('base64') }) }] }
  } catch (thrown) {
    if (!PtcError.isInstance(thrown)) throw thrown
    if (thrown.code === 'TEMPORAL_NOT_FOUND') throw new ResourceNotFoundError(uri)
    throw new ProtocolError(ProtocolErrorCode.InternalError, thrown.message)
  }
}

/** Undefined for what is not text in UTF-8. */
function textOf(mediaType: string, content: Buffer): { readonly text: string } | undefined {
  if (!mediaType.startsWith('text/') && mediaType !== 'application/json') return undefined
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(content) }
  } catch {
    return undefined
  }
}
