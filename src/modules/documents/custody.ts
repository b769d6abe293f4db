/** The chain of custody of a document: the events of the audit record about it, in the words of the field. There is no second log. */
import type { CustodyEventRow } from './queries.ts'

export const custodyActs = [
  'received',
  'stored',
  'scanned',
  'read',
  'exported',
  'verified',
  'damaged',
  'held',
  'released',
  'changed',
  'deleted',
  'erased',
] as const
export type CustodyAct = (typeof custodyActs)[number]

/** What jobs and other modules record says itself what was done. */
const isAct = (value: unknown): value is CustodyAct => custodyActs.some((act) => act === value)

const acts: Readonly<Record<string, CustodyAct>> = {
  createDocument: 'received',
  getDocument: 'read',
  getDocumentContent: 'read',
  listDocumentCustody: 'read',
  verifyDocument: 'verified',
  updateDocument: 'changed',
  deleteDocument: 'deleted',
  createHold: 'held',
  releaseHold: 'released',
}

export function toCustodyEntry({ event_id, recorded_at, actor, operation, detail }: CustodyEventRow) {
  const act = isAct(detail['act']) ? detail['act'] : (acts[operation] ?? 'changed')
  return { event_id, recorded_at, act, actor, operation }
}
