/**
 * Carries out a confirmed erasure. The ledger has its entry before anything is changed; each class is one transaction; the last one
 * destroys the key, overwrites the record and signs the certificate. Whatever is interrupted is continued by running it again.
 */
import { recordEvent } from '#kernel/audit/record.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedRows, ErasedSubject, ErasureClass, RecordErased } from '#kernel/erasure/erasure-class.ts'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import { emit } from '#kernel/events/emit.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { subjectErased } from './erasure-events.ts'
import { collectMarks } from './marks.ts'
import {
  addToAnnex,
  beginStep,
  type ErasureRow,
  eraseSubjectRows,
  findErasure,
  isSubjectHeld,
  listAnnexCounts,
  listSteps,
  type StepCounts,
  updateAnnexSigned,
  updateDone,
  updateStepCounts,
  updateUnconfirmed,
} from './queries.ts'

export type ErasureKernel = Capabilities<'modules' | 'encryption' | 'auditKeys' | 'erasureLedger' | 'backup_days'>

export interface ErasureTransactions {
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  write(body: (tx: Tx) => Promise<void>): Promise<void>
}

export const SUBJECT_ERASURE = 'subject-erasure'
export const CERTIFICATE_FORMAT = 'probity-erasure-certificate/3'
export const ANNEX_FORMAT = 'probity-erasure-annex/2'
const DAY_MS = 86_400_000
const LAST_STEP = 'subject'
const NOTHING: StepCounts = { count: 0, left_for_review: 0, kept_by_hold: 0 }

export const listErasureClasses = ({ modules }: Pick<ErasureKernel, 'modules'>): readonly ErasureClass[] =>
  modules.flatMap(({ erases = [] }) => erases)

export function expectLedger({ erasureLedger }: Pick<ErasureKernel, 'erasureLedger'>) {
  return (
    erasureLedger ??
    fail(
      'conflict',
      'Nothing can be erased: the operator has not configured an erasure ledger (PROBITY_ERASURE_LEDGER).',
    )
  )
}

export async function runErasure(
  kernel: ErasureKernel,
  transactions: ErasureTransactions,
  { tenant_id, erasure_id }: { tenant_id: string; erasure_id: string },
): Promise<void> {
  const { read, write } = transactions
  const erasure = await read((tx) => findErasure(tx, erasure_id))
  if (erasure?.state !== 'executing') return
  const subject = await read((tx) => collectMarks(kernel, tx, erasure.subject_id, erasure.also))
  await returnIfKept(kernel, transactions, { erasure, subject })
  const entry = await appendEntry(kernel, tenant_id, erasure)
  for (const one of listErasureClasses(kernel)) {
    await write(async (tx) => {
      // It searches all uploaded files of the tenant.
      await tx.disableTimeout()
      if (await beginStep(tx, erasure, one.name)) await runStep(kernel, tx, { erasure_id, one, subject })
    })
  }
  await write(async (tx) => {
    if (!(await beginStep(tx, erasure, LAST_STEP))) return
    const keys_destroyed = await kernel.encryption.destroyOwner(tx, { kind: 'subject', id: erasure.subject_id })
    const count = await eraseSubjectRows(tx, erasure.subject_id)
    await updateStepCounts(tx, erasure_id, LAST_STEP, { count, left_for_review: 0, kept_by_hold: 0 })
    const certificate = await signCertificate(kernel, tx, { erasure, entry, keys_destroyed })
    await signAnnexes(kernel, tx, erasure_id)
    await updateDone(tx, erasure_id, { ledger_hash: entry.hash, certificate })
    await emit(tx, subjectErased, { object_id: erasure.subject_id, restriction_id: null, data: { erasure_id } })
  })
}

/**
 * The confirmation has asked for holds: this is for one that came by another way, while nothing is destroyed and the ledger does not name the
 * erasure. It can then be withdrawn, or confirmed again when the hold is released. Fails with `legal_hold`.
 */
async function returnIfKept(
  kernel: ErasureKernel,
  { read, write }: ErasureTransactions,
  { erasure, subject }: { readonly erasure: ErasureRow; readonly subject: ErasedSubject },
): Promise<void> {
  const { erasure_id, subject_id, origin } = erasure
  if (origin === 'ledger' || (await expectLedger(kernel).read()).some((entry) => entry.erasure_id === erasure_id))
    return
  const is_kept = await read(async (tx) => {
    await tx.disableTimeout()
    if (await isSubjectHeld(tx, subject_id)) return true
    for (const one of listErasureClasses(kernel))
      if ((await one.find(tx, subject)).some(({ held_by_id, open_by_id }) => held_by_id + open_by_id > 0)) return true
    return false
  })
  if (!is_kept) return
  await write(async (tx) => {
    await updateUnconfirmed(tx, erasure_id)
  })
  fail('legal_hold')
}

/** Rows with a restriction are counted apart, in force or not: it may be imposed later. */
async function runStep(
  kernel: Pick<ErasureKernel, 'auditKeys'>,
  tx: Tx,
  {
    erasure_id,
    one,
    subject,
  }: { readonly erasure_id: string; readonly one: ErasureClass; readonly subject: ErasedSubject },
): Promise<void> {
  const none: Counted = { restriction_ids: [], counts: NOTHING }
  const counted = new Map<string, Counted>([['', none]])
  const add = (rows: Pick<ErasedRows, 'restriction_id' | 'other_restriction_ids'>, more: Partial<StepCounts>) => {
    const restriction_ids = listRestrictions(rows)
    const key = restriction_ids.join()
    const { count, left_for_review, kept_by_hold } = counted.get(key)?.counts ?? NOTHING
    const counts = {
      count: count + (more.count ?? 0),
      left_for_review: left_for_review + (more.left_for_review ?? 0),
      kept_by_hold: kept_by_hold + (more.kept_by_hold ?? 0),
    }
    counted.set(key, { restriction_ids, counts })
  }
  for (const { left_for_review, kept_by_hold, ...rows } of await one.find(tx, subject))
    add(rows, { left_for_review, kept_by_hold })
  const record: RecordErased = (object) => {
    recordEvent(tx, kernel.auditKeys, {
      operation: `job:${SUBJECT_ERASURE}`,
      ...object,
      request_id: null,
      detail: { act: 'erased', erasure_id },
    })
  }
  for (const { count, ...rows } of await one.erase(tx, subject, record)) add(rows, { count })
  for (const { restriction_ids, counts } of counted.values()) {
    const [restriction_id, ...named_restriction_ids] = restriction_ids
    if (restriction_id === undefined) await updateStepCounts(tx, erasure_id, one.name, counts)
    else if (counts.count + counts.left_for_review + counts.kept_by_hold > 0)
      await addToAnnex(tx, { erasure_id, restriction_id, named_restriction_ids, step: one.name, counts })
  }
}

interface Counted {
  readonly restriction_ids: readonly string[]
  readonly counts: StepCounts
}

/** The same rows have the same list, however each names them: that of the row first. */
const listRestrictions = ({
  restriction_id,
  other_restriction_ids = [],
}: Pick<ErasedRows, 'restriction_id' | 'other_restriction_ids'>): readonly string[] => [
  ...new Set([...(restriction_id === null ? [] : [restriction_id]), ...other_restriction_ids.toSorted()]),
]

function appendEntry(kernel: ErasureKernel, tenant_id: string, erasure: ErasureRow): Promise<LedgerEntry> {
  const { erasure_id, subject_id, requested_by, confirmed_by, confirmed_at, also } = erasure
  const { key_id, signStatement } = kernel.auditKeys
  const facts = {
    ...{ erasure_id, tenant_id, subject_id, requested_by },
    confirmed_by: confirmed_by as string,
    confirmed_at: confirmed_at as string,
    ...(also.length > 0 && { also }),
  }
  return expectLedger(kernel).append(facts, { key_id, sign: (hash) => signStatement('erasure-ledger', hash) })
}

/** The day on which a backup that was taken just before expires. */
function describeBackups(kept_days: number | null, erased_at: Date) {
  const expires = kept_days === null ? null : new Date(erased_at.getTime() + kept_days * DAY_MS)
  return { kept_days, last_expires_on: expires === null ? null : expires.toISOString().slice(0, 10) }
}

const describeKeys = ({ key_id, public_key, earlier_keys }: ErasureKernel['auditKeys']) => ({
  ...{ key_id, public_key },
  earlier_keys: earlier_keys.map((key) => ({
    ...{ key_id: key.key_id, public_key: key.public_key, succession: key.succession },
  })),
})

async function signCertificate(
  { auditKeys, backup_days }: ErasureKernel,
  tx: Tx,
  { erasure, entry, keys_destroyed }: { erasure: ErasureRow; entry: LedgerEntry; keys_destroyed: number },
): Promise<Record<string, unknown>> {
  const erased_at = new Date()
  const content = {
    format: CERTIFICATE_FORMAT,
    erasure_id: erasure.erasure_id,
    tenant_id: tx.tenant_id,
    subject_id: erasure.subject_id,
    requested_at: erasure.requested_at,
    confirmed_at: erasure.confirmed_at,
    erased_at: erased_at.toISOString(),
    erased: await listSteps(tx, erasure.erasure_id),
    keys_destroyed,
    ledger: { seq: entry.seq, hash: entry.hash },
    backups: describeBackups(backup_days, erased_at),
    ...describeKeys(auditKeys),
  }
  return { ...content, signature: auditKeys.signStatement('erasure-certificate', canonicalJson(content)) }
}

async function signAnnexes({ auditKeys }: ErasureKernel, tx: Tx, erasure_id: string): Promise<void> {
  for (const { restriction_id, named_restriction_ids, counts } of await listAnnexCounts(tx, erasure_id)) {
    const erased = Object.entries(counts)
      .map(([name, one]) => ({ class: name, ...one }))
      .toSorted((one, two) => (one.class < two.class ? -1 : 1))
    const content = {
      format: ANNEX_FORMAT,
      erasure_id,
      tenant_id: tx.tenant_id,
      restriction_id,
      ...(named_restriction_ids.length > 0 && { also_restriction_ids: named_restriction_ids }),
      erased,
      ...describeKeys(auditKeys),
    }
    const signature = auditKeys.signStatement('erasure-annex', canonicalJson(content))
    await updateAnnexSigned(tx, {
      erasure_id,
      restriction_id,
      named_restriction_ids,
      content: { ...content, signature },
    })
  }
}
