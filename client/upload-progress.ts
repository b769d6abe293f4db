/**
 * Upload progress. Browsers report it for XMLHttpRequest only, which therefore replaces `fetch` there; elsewhere bytes
 * are counted as they are read.
 */
/** A Blob or File is read from disk as it is sent. Streams work in Node, where they are sent once and never repeated. */
export type UploadContent =
  | Blob
  | ArrayBuffer
  | Uint8Array
  | string
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>

export interface UploadProgress {
  readonly sent_bytes: number
  /** Null for a stream, whose length is unknown. */
  readonly total_bytes: number | null
}

type ProgressListener = (progress: UploadProgress) => void
type BufferedContent = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string

/** The used part of XMLHttpRequest, which the types of Node lack. */
interface XhrLike {
  readonly status: number
  readonly statusText: string
  readonly response: unknown
  readonly upload: {
    onprogress: ((event: { loaded: number; total: number; lengthComputable: boolean }) => void) | null
  }
  responseType: string
  onload: (() => void) | null
  onerror: (() => void) | null
  onabort: (() => void) | null
  open(method: string, url: string): void
  setRequestHeader(name: string, value: string): void
  getAllResponseHeaders(): string
  send(body: BufferedContent): void
  abort(): void
}
const { XMLHttpRequest: XhrConstructor } = globalThis as { readonly XMLHttpRequest?: new () => XhrLike }

const CHUNK_BYTES = 64 * 1024

/** Whether XMLHttpRequest can send this content. */
export const canTrackProgress = (content: UploadContent): content is BufferedContent =>
  XhrConstructor !== undefined &&
  (typeof content === 'string' ||
    content instanceof Blob ||
    content instanceof ArrayBuffer ||
    content instanceof Uint8Array)

/** Sends `content` with the method, address and headers of the given request, which has no body. */
export const createXhrFetch =
  (content: BufferedContent, watch: ProgressListener): typeof globalThis.fetch =>
  (input, init) =>
    new Promise((resolve, reject) => {
      const request = input as Request
      const signal = init?.signal ?? request.signal
      const sending = new (XhrConstructor as NonNullable<typeof XhrConstructor>)()
      const stop = () => sending.abort()
      const end = (settle: () => void) => {
        signal.removeEventListener('abort', stop)
        settle()
      }
      sending.open(request.method, request.url)
      request.headers.forEach((value, name) => {
        sending.setRequestHeader(name, value)
      })
      sending.responseType = 'arraybuffer'
      sending.upload.onprogress = ({ loaded, total, lengthComputable }) =>
        watch({ sent_bytes: loaded, total_bytes: lengthComputable ? total : null })
      sending.onload = () => end(() => resolve(toResponse(sending)))
      sending.onerror = () => end(() => reject(new TypeError('The connection failed.')))
      sending.onabort = () => end(() => reject(signal.reason))
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      sending.send(content)
    })

function toResponse(sending: XhrLike): Response {
  const headers = new Headers()
  for (const line of sending.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const at = line.indexOf(':')
    if (at > 0) headers.append(line.slice(0, at).trim(), line.slice(at + 1).trim())
  }
  const { status, statusText } = sending
  const isEmpty = status === 204 || status === 304
  return new Response(isEmpty ? null : (sending.response as ArrayBuffer), { status, statusText, headers })
}

/** Passes the bytes through and counts them. */
export async function* trackProgress(content: UploadContent, watch: ProgressListener): AsyncGenerator<Uint8Array> {
  const total_bytes = getContentLength(content)
  let sent_bytes = 0
  for await (const piece of readChunks(content)) {
    yield piece
    sent_bytes += piece.length
    watch({ sent_bytes, total_bytes })
  }
}

function getContentLength(content: UploadContent): number | null {
  if (typeof content === 'string') return new TextEncoder().encode(content).length
  if (content instanceof Blob) return content.size
  return 'byteLength' in content ? content.byteLength : null
}

async function* readChunks(content: UploadContent): AsyncGenerator<Uint8Array> {
  if (typeof content === 'object' && Symbol.asyncIterator in content) return yield* content
  const whole = content as BufferedContent
  const blob = whole instanceof Blob ? whole : new Blob([whole])
  for (let at = 0; at < blob.size; at += CHUNK_BYTES) {
    yield new Uint8Array(await blob.slice(at, at + CHUNK_BYTES).arrayBuffer())
  }
}
