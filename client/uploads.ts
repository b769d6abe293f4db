/** Storing bytes for imports, batches and documents. What can be read again is sent again when an attempt fails. */
import { problemFromAnswer, unreadable } from './problem.ts'
import type { Transport } from './transport.ts'
import type { components } from './types.ts'

type Upload = components['schemas']['Upload']

/** A Blob or File is read from disk as it is sent. Streams work in Node, where they are sent once and never repeated. */
export type UploadContent =
  | Blob
  | ArrayBuffer
  | Uint8Array
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

export interface UploadOptions {
  /** Kept as provenance; the name of a File unless told. */
  readonly file_name?: string
  readonly idempotency_key?: string
  readonly signal?: AbortSignal
}

export interface Uploads {
  create(content: UploadContent, options?: UploadOptions): Promise<Upload>
}

export function createUploads(url: string, send: Transport): Uploads {
  return {
    create: async (content, { file_name = nameOf(content), idempotency_key, signal } = {}) => {
      const query = file_name === undefined ? '' : `?file_name=${encodeURIComponent(file_name)}`
      const init = {
        method: 'POST',
        body: content,
        duplex: 'half',
        headers: {
          accept: 'application/json',
          'content-type': 'application/octet-stream',
          ...(idempotency_key !== undefined && { 'idempotency-key': idempotency_key }),
        },
        ...(signal && { signal }),
      }
      // `duplex`, required for streams, and bodies that are iterables are unknown to the types of some platforms.
      const make = () => new Request(`${url}/api/uploads${query}`, init as unknown as RequestInit)
      // As long as it takes: how long depends on the size and the line.
      const response = await send(make, { repeatable: !isStream(content), timeout_ms: null })
      const answer: unknown = await response.json().catch(() => null)
      if (!response.ok) throw problemFromAnswer(response, answer)
      if (answer === null) throw unreadable(response)
      return answer as Upload
    },
  }
}

const nameOf = (content: UploadContent): string | undefined =>
  content instanceof Blob && 'name' in content && typeof content.name === 'string' ? content.name : undefined

const isStream = (content: UploadContent): boolean =>
  typeof content === 'object' && (content instanceof ReadableStream || Symbol.asyncIterator in content)
