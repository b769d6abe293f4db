/**
 * Carries out a confirmed erasure. The ledger has its entry before anything is changed; each class is one transaction; the last one
 * destroys the key, overwrites the record and signs the certificate. Whatever is interrupted is continued by running it again.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { ErasedSubject, ErasureClass } from '#kernel/erasure/erasure-class.ts'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { listSubjectVersions } from '../records/queries.ts'
import { openVersions } from '../records/stored-versions.ts'
import {
  beginStep,
  type ErasureRow,
  eraseSubjectRows,
  findErasure,
  listSteps,
  updateDone,
  updateStepErased,
} from './queries.ts'

export type ErasureKernel = Capabilities<'modules' | 'encryption' | 'auditKeys' | 'erasureLedger'>

export interface ErasureTransactions {
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  write(body: (tx: Tx) => Promise<void>): Promise<void>
}

export const CERTIFICATE_FORMAT = 'probity-erasure-certificate/1'
const LAST_STEP = 'subject'

export const listErasureClasses = ({ modules }: Pick<ErasureKernel, 'modules'>): readonly ErasureClass[] =>
  modules.flatMap(({ erases = [] }) => erases)

/** Shorter names would be found in texts about others; they are searched as a whole JSON text. */
const MIN_MARK = 4
/** The newest ones; a record that was changed more often has had its earlier names in these too, or they are in no live row. */
const MAX_VERSIONS = 10_000

/** Everything that identifies the subject in stored texts, in lower case. */
export async function collectMarks(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  subject_id: string,
): Promise<ErasedSubject> {
  const stored = await listSubjectVersions(tx, { subject_id, at: null }, null, MAX_VERSIONS)
  const versions = await openVersions(kernel, tx, subject_id, stored)
  const names = versions.flatMap(({ name, external_id }) => [name, external_id])
  const marks = new Set([subject_id])
  for (const name of names) {
    if (name === null || name === '') continue
    const quoted = JSON.stringify(name).toLowerCase()
    if (name.length < MIN_MARK) marks.add(quoted)
    else {
      marks.add(name.toLowerCase())
      // As it is written inside a JSON text.
      marks.add(quoted.slice(1, -1))
    }
  }
  return { subject_id, marks: [...marks] }
}

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
  const subject = await read((tx) => collectMarks(kernel, tx, erasure.subject_id))
  const entry = await appendEntry(kernel, tenant_id, erasure)
  for (const { name, erase } of listErasureClasses(kernel)) {
    await write(async (tx) => {
      if (await beginStep(tx, erasure, name)) await updateStepErased(tx, erasure_id, name, await erase(tx, subject))
    })
  }
  await write(async (tx) => {
    if (!(await beginStep(tx, erasure, LAST_STEP))) return
    const keys_destroyed = await kernel.encryption.destroyOwner(tx, { kind: 'subject', id: erasure.subject_id })
    await updateStepErased(tx, erasure_id, LAST_STEP, await eraseSubjectRows(tx, erasure.subject_id))
    const certificate = await signCertificate(kernel, tx, { erasure, entry, keys_destroyed })
    await updateDone(tx, erasure_id, { ledger_hash: entry.hash, certificate })
  })
}

function appendEntry(kernel: ErasureKernel, tenant_id: string, erasure: ErasureRow): Promise<LedgerEntry> {
  const { erasure_id, subject_id, requested_by, confirmed_by, confirmed_at } = erasure
  const { key_id, signStatement } = kernel.auditKeys
  const facts = {
    ...{ erasure_id, tenant_id, subject_id, requested_by },
    confirmed_by: confirmed_by as string,
    confirmed_at: confirmed_at as string,
  }
  return expectLedger(kernel).append(facts, { key_id, sign: (hash) => signStatement('erasure-ledger', hash) })
}

async function signCertificate(
  { auditKeys }: ErasureKernel,
  tx: Tx,
  { erasure, entry, keys_destroyed }: { erasure: ErasureRow; entry: LedgerEntry; keys_destroyed: number },
): Promise<Record<string, unknown>> {
  const content = {
    format: CERTIFICATE_FORMAT,
    erasure_id: erasure.erasure_id,
    tenant_id: tx.tenant_id,
    subject_id: erasure.subject_id,
    requested_at: erasure.requested_at,
    confirmed_at: erasure.confirmed_at,
    erased_at: new Date().toISOString(),
    erased: await listSteps(tx, erasure.erasure_id),
    keys_destroyed,
    ledger: { seq: entry.seq, hash: entry.hash },
    key_id: auditKeys.key_id,
    public_key: auditKeys.public_key,
  }
  return { ...content, signature: auditKeys.signStatement('erasure-certificate', canonicalJson(content)) }
}
