/** Collects a response body within bounds: of the bytes received, of the bytes after decompression, and of their ratio. */
import zlib from 'node:zlib'
import type { EgressFault } from './faults.ts'

const MAX_RATIO = 100
/** Short texts of one character may be compressed better than that. */
const RATIO_FREE_BYTES = 64 * 1024

export interface BodyOptions {
  readonly encoding: string
  readonly max_bytes: number
  /** Called at most once; nothing more is collected. */
  readonly onFault: (fault: EgressFault) => void
  readonly pause: () => void
  readonly resume: () => void
}

type Decoder = zlib.Gunzip | zlib.BrotliDecompress | zlib.Inflate | zlib.InflateRaw

const isIdentity = (encoding: string): boolean => encoding === '' || encoding === 'identity'
const encodings = new Set(['gzip', 'x-gzip', 'deflate', 'br'])

export class ResponseBody {
  readonly #options: BodyOptions
  readonly #chunks: Buffer[] = []
  #received_bytes = 0
  #size_bytes = 0
  #decoder: Decoder | undefined
  #isFailed = false
  #onEnd: ((body: Buffer) => void) | undefined

  constructor(options: BodyOptions) {
    this.#options = options
    if (!isIdentity(options.encoding) && !encodings.has(options.encoding)) this.#fail('response_invalid')
  }

  write(chunk: Buffer): void {
    if (this.#isFailed || chunk.length === 0) return
    this.#received_bytes += chunk.length
    if (isIdentity(this.#options.encoding)) this.#add(chunk)
    else if (this.#received_bytes > this.#options.max_bytes) this.#fail('too_large')
    else this.#decode(chunk)
  }

  #decode(chunk: Buffer): void {
    this.#decoder ??= this.#createDecoder(chunk)
    if (this.#decoder.write(chunk)) return
    this.#options.pause()
    this.#decoder.once('drain', this.#options.resume)
  }

  /** `onEnd` is called with the whole body, unless a fault was or will be reported. */
  end(onEnd: (body: Buffer) => void): void {
    if (this.#isFailed) return
    this.#onEnd = onEnd
    if (this.#decoder) this.#decoder.end()
    else onEnd(Buffer.concat(this.#chunks))
  }

  destroy(): void {
    this.#isFailed = true
    this.#decoder?.destroy()
    this.#chunks.length = 0
  }

  #createDecoder(first: Buffer): Decoder {
    const decoder = createDecoder(this.#options.encoding, first)
    decoder.on('data', (chunk: Buffer) => this.#add(chunk))
    decoder.once('error', () => this.#fail('response_invalid'))
    decoder.once('end', () => this.#onEnd?.(Buffer.concat(this.#chunks)))
    return decoder
  }

  #add(chunk: Buffer): void {
    if (this.#isFailed) return
    this.#size_bytes += chunk.length
    const isBomb =
      this.#decoder !== undefined &&
      this.#size_bytes > RATIO_FREE_BYTES &&
      this.#size_bytes > this.#received_bytes * MAX_RATIO
    if (isBomb || this.#size_bytes > this.#options.max_bytes) this.#fail('too_large')
    else this.#chunks.push(chunk)
  }

  #fail(fault: EgressFault): void {
    if (this.#isFailed) return
    this.destroy()
    this.#options.onFault(fault)
  }
}

function createDecoder(encoding: string, first: Buffer): Decoder {
  if (encoding === 'br') return zlib.createBrotliDecompress()
  if (encoding !== 'deflate') return zlib.createGunzip()
  // Some servers send the bare stream under this name, without the two bytes of the zlib format before it.
  return ((first[0] ?? 0) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw()
}
