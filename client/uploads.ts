/** Stores bytes for imports, batches and documents. Content that can be read again is retried when an attempt fails. */
import { problemFromResponse, unexpectedBodyProblem } from './problem.ts'
import type { Transport } from './transport.ts'
import type { components } from './types.ts'
import {
  canTrackProgress,
  createXhrFetch,
  trackProgress,
  type UploadContent,
  type UploadProgress,
} from './upload-progress.ts'

type Upload = components['schemas']['Upload']

export interface UploadOptions {
  /** Stored as provenance; by default the name of a File. */
  readonly file_name?: string
  /** Of the document that the bytes are for: the event of the upload is hidden with it. */
  readonly restriction_id?: string
  readonly idempotency_key?: string
  readonly signal?: AbortSignal
  /** Called with the number of bytes sent; a retry starts again from 0. */
  readonly onProgress?: (progress: UploadProgress) => void
}

export interface Uploads {
  create(content: UploadContent, options?: UploadOptions): Promise<Upload>
}

export function createUploads(url: string, send: Transport): Uploads {
  return {
    create: async (content, options = {}) => {
      const { file_name = getFileName(content), restriction_id, idempotency_key, signal, onProgress } = options
      const query = toQuery({ file_name, restriction_id })
      const tracksProgress = onProgress !== undefined && canTrackProgress(content)
      const body = () => (onProgress && !tracksProgress ? trackProgress(content, onProgress) : content)
      const init = {
        method: 'POST',
        duplex: 'half',
        headers: {
          accept: 'application/json',
          'content-type': 'application/octet-stream',
          ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
        },
        ...(signal && { signal }),
      }
      // The types of some platforms lack `duplex`, which streams require, and iterable bodies.
      const make = () =>
        new Request(`${url}/api/uploads${query}`, {
          ...init,
          ...(!tracksProgress && { body: body() }),
        } as unknown as RequestInit)
      const response = await send(make, {
        repeatable: !isStream(content),
        // No timeout: the duration depends on the size and the connection.
        timeout_ms: null,
        ...(tracksProgress && { fetch: createXhrFetch(content, onProgress) }),
      })
      const answer: unknown = await response.json().catch(() => null)
      if (!response.ok) throw problemFromResponse(response, answer)
      const upload = (answer ?? {}) as Partial<Upload>
      if (typeof upload.upload_id !== 'string') throw unexpectedBodyProblem('an upload', response.status)
      return upload as Upload
    },
  }
}

function toQuery(parameters: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined) as [string, string][]
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
}

const getFileName = (content: UploadContent): string | undefined =>
  content instanceof Blob && 'name' in content && typeof content.name === 'string' ? content.name : undefined

const isStream = (content: UploadContent): boolean =>
  typeof content === 'object' && (content instanceof ReadableStream || Symbol.asyncIterator in content)
