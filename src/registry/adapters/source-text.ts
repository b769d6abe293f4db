/** Shared by adapters that read text: options for size and encoding, and the report of the encoding. */
import { integer, oneOf, Type } from '#kernel/schema.ts'
import type { Source } from '../adapter.ts'
import { type DetectedEncoding, type Encoding, encodings, MAX_EXPANDED_BYTES, readText } from '../formats/decode.ts'
import type { BatchBuilder } from './batch-builder.ts'

/** Options of every adapter that reads text. */
export const textOptions = {
  max_expanded_bytes: Type.Optional(
    integer(1, 16 * 1024 ** 3, {
      default: MAX_EXPANDED_BYTES,
      description: 'Most bytes the source may have, unpacked.',
    }),
  ),
}

const OUTWEIGHED = 'A byte order mark in the source outweighs this.'

/** For formats that declare their encoding. */
export const encodingOption = (by_default: Encoding) => ({
  encoding: Type.Optional(oneOf(encodings, { default: by_default, description: OUTWEIGHED })),
})

/** For formats that do not declare it. */
export const detectedEncodingOption = {
  encoding: Type.Optional(
    oneOf(encodings, {
      description: `Default: detected. Valid UTF-8 is read as UTF-8, other Western text as windows-1252. ${OUTWEIGHED}`,
    }),
  ),
}

interface TextSettings {
  readonly encoding?: Encoding | undefined
  readonly max_expanded_bytes?: number | undefined
}

/** Records the encoding of a file, and warns when it is a guess. */
export const noteEncoding =
  (out: BatchBuilder, file: string | null = null) =>
  (found: DetectedEncoding): void => {
    out.addFile({ file, state: 'read', ...found })
    if (found.encoding_from !== 'content' || found.encoding === 'utf-8') return
    const what = file === null ? 'The text' : `"${file}"`
    out.warn(
      'encoding_guessed',
      `${what} is not valid UTF-8 and was read as ${found.encoding}. Check names with accents: in another encoding they become ` +
        'other names without an error. The option "encoding" states it.',
    )
  }

/** Text in the stated encoding, or in the detected one. */
export const readDetected = (source: Source, options: TextSettings, out: BatchBuilder) =>
  readText(source, {
    max_expanded_bytes: options.max_expanded_bytes,
    encoding: options.encoding ?? 'detect',
    onEncoding: noteEncoding(out),
  })

/** Text in the stated encoding, or in the one its format prescribes. */
export const readPrescribed = (source: Source, options: TextSettings, out: BatchBuilder) =>
  readText(source, { ...options, onEncoding: noteEncoding(out) })
