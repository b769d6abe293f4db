/** Checks a document against a schema that another party wrote, in the bounded worker: this process never compiles one. */
import type { Violation } from '#contract/model.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { contractThread, failContractThread } from './contract-thread.ts'

export interface ForeignSchema {
  readonly schema: Readonly<Record<string, unknown>>
  /** Of what the schema belongs to; a compiled schema is found again by it. */
  readonly schema_hash: string
}

/** Where the document breaks the schema; empty: nowhere. */
export async function findSchemaViolations(
  kernel: Capabilities<'threads'>,
  { schema, schema_hash }: ForeignSchema,
  bytes: Buffer,
  caller: string,
): Promise<readonly Violation[]> {
  const contract = { record: schema, records_at: '', facts: [], examples: [] }
  const payload = { payload_id: '', bytes, media_type: 'application/json' }
  const [read] = await kernel.threads
    .get(contractThread)
    .read({ contract, contract_hash: `schema/${schema_hash}` }, [payload], caller)
    .catch(failContractThread)
  return read?.violations ?? []
}
