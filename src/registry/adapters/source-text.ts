/** What adapters of text have in common: options of size and encoding, and the report which encoding a source was read in. */
import { integer, oneOf, Type } from '#kernel/schema.ts'
import type { Source } from '../adapter.ts'
import { type DetectedEncoding, type Encoding, encodings, MAX_EXPANDED_BYTES, readText } from '../formats/decode.ts'
import type { BatchBuilder } from './pending.ts'

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

/** For formats that say which encoding they are in. */
export const encodingOption = (by_default: Encoding) => ({
  encoding: Type.Optional(oneOf(encodings, { default: by_default, description: OUTWEIGHED })),
})

/** For formats that do not. */
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

/** Notes in which encoding a file was read, and warns where its bytes do not prove it. */
export const noteEncoding =
  (out: BatchBuilder, file: string | null = null) =>
  (found: DetectedEncoding): void => {
    out.file({ file, state: 'read', ...found })
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
