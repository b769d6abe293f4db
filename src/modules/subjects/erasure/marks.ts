/** By which words a subject is found in rows that belong to no subject, and how much each of them proves. */
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedSubject, NamedRow } from '#kernel/erasure/erasure-class.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { listSubjectVersions } from '../records/queries.ts'
import { openVersions } from '../records/stored-versions.ts'
import { toSearchWords } from '../records/subject-content.ts'
import { foldTexts, hasOtherExternalId, hasOtherName } from './queries.ts'

/** The newest ones; a record that was changed more often has had its earlier names in these too, or they are in no live row. */
const MAX_VERSIONS = 10_000
/** Shorter words are found in every text. */
const MIN_MARK = 2

/** Words of scripts that are written without spaces; a name in them has no second word. */
const RUN_ON =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
const MIN_RUN_ON_NAME = 3

/** One word is also a word of texts about others: "Risk", "Berlin", "Siemens". */
export const isDistinctName = (name: string): boolean =>
  (name.match(/[\p{L}\p{N}]+/gu) ?? []).length > 1 || (RUN_ON.test(name) && [...name].length >= MIN_RUN_ON_NAME)

/** Short numbers are also sums, years and counts; with a letter fewer characters are enough. */
export const isDistinctExternalId = (id: string): boolean =>
  (id.length >= 6 && /\p{L}/u.test(id)) || (id.match(/\d/g) ?? []).length >= 8

/** Everything that identifies the subject in stored texts. */
export async function collectMarks(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  subject_id: string,
  also: readonly NamedRow[] = [],
): Promise<ErasedSubject> {
  const stored = await listSubjectVersions(tx, { subject_id, at: null }, null, MAX_VERSIONS)
  const versions = await openVersions(kernel, tx, subject_id, stored)
  const distinct = (texts: readonly (string | null)[]) => [
    ...new Set(texts.filter((text) => text !== null && text !== '')),
  ]
  const names = distinct(versions.map(({ name }) => name)) as string[]
  const ids = distinct(versions.map(({ external_id }) => external_id)) as string[]
  const found = new Map<string, { isOwn: boolean; isDistinct: boolean }>()
  const add = async (text: string, isDistinct: boolean, isShared: boolean) => {
    const [mark] = await foldTexts(tx, [text])
    if (!mark) return
    const known = found.get(mark)
    found.set(mark, {
      isOwn: !isShared && (known?.isOwn ?? true),
      isDistinct: isDistinct || (known?.isDistinct ?? false),
    })
  }
  for (const name of names)
    await add(name, isDistinctName(name), await hasOtherName(tx, subject_id, toSearchWords(name)))
  for (const id of ids) await add(id, isDistinctExternalId(id), await hasOtherExternalId(tx, subject_id, id))
  const own = [...found].filter(([, { isOwn }]) => isOwn)
  return {
    subject_id,
    sure: own.filter(([, { isDistinct }]) => isDistinct).map(([mark]) => mark),
    own: own.map(([mark]) => mark),
    marks: [...found.keys()].filter((mark) => [...mark].length >= MIN_MARK),
    also,
  }
}
