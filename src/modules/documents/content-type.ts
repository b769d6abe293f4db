/**
 * Decides whether a file may be stored: its name must end as an entry of the list `document-types` says, and its bytes must be what
 * that entry says. What the client states about the type is compared, never believed.
 */
import { fileTypeFromBuffer } from 'file-type'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { resolver } from '#modules/definitions/index.ts'

export const DOCUMENT_TYPES = 'document-types'

export interface DocumentType {
  readonly extension: string
  readonly media_type: string
  readonly title: string
  readonly content: 'signature' | 'text'
}

type FaultLocation = 'upload_id' | 'media_type' | 'sha256'

/** 409 with the member of the request that is wrong. */
export const refuse = (member: FaultLocation, detail: string): never =>
  fail('document_refused', { detail, errors: [{ in: 'body', pointer: `#/${member}`, detail }] })

/** The accepted type for the extension of the file. */
export async function findDocumentType(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  file_name: string,
): Promise<DocumentType> {
  const extension = /\.([a-z0-9]{1,20})$/i.exec(file_name)?.[1]?.toLowerCase()
  if (extension === undefined) return refuse('upload_id', 'The name of the file has no extension.')
  const list = await resolver.loadPolicyList<DocumentType>(kernel, tx, DOCUMENT_TYPES)
  const type = list?.entries.find((entry) => entry.extension === extension)
  return type ?? refuse('upload_id', `Files with the extension ${extension} are not accepted.`)
}

/** Checks the first chunk of a file by its signature. */
export async function assertContentType(type: DocumentType, first: Buffer): Promise<void> {
  const detected = (await fileTypeFromBuffer(first))?.mime as string | undefined
  if (detected === type.media_type) return
  const expected = `The extension means ${type.media_type}`
  if (detected !== undefined) refuse('upload_id', `${expected}, but the bytes are ${detected}.`)
  if (type.content === 'signature') refuse('upload_id', `${expected}, but the bytes are not that.`)
}

/** Tab, line feed, form feed and carriage return are part of texts. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not occur.
const CONTROL = /[\u0000-\u0008\u000b\u000e-\u001f\u007f]/

export interface TextCheck {
  add(chunk: Buffer): void
  end(): void
}

/** Checks that the bytes are UTF-8 without control characters; a character may begin in one chunk and end in the next. */
export function createTextCheck(type: Pick<DocumentType, 'content' | 'media_type'>): TextCheck {
  const nothing = { add: () => {}, end: () => {} }
  if (type.content !== 'text') return nothing
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk: Buffer | undefined, stream: boolean): string => {
    try {
      return decoder.decode(chunk, { stream })
    } catch {
      return refuse('upload_id', `The extension means ${type.media_type}, but the bytes are not text in UTF-8.`)
    }
  }
  const check = (text: string): void => {
    if (CONTROL.test(text))
      refuse('upload_id', `The extension means ${type.media_type}, but the bytes hold control characters.`)
  }
  return { add: (chunk) => check(decode(chunk, true)), end: () => check(decode(undefined, false)) }
}
