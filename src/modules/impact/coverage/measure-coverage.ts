/** Reads the past decisions of one version page by page and counts which of its parts they used. */
import type { DecisionContent } from '#decision/document.ts'
import type { Definition } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { datasetStore, documentStore, resolver } from '#modules/definitions/index.ts'
import { decisionDocuments } from '#modules/evaluations/index.ts'
import type { DecisionKind } from '#modules/risk-matrices/index.ts'

import { listDocuments } from '../queries.ts'
import { Coverage } from './coverage-counter.ts'
import { MAX_DECISIONS } from './schema.ts'

const PORTION = 500

interface CoverageOptions {
  readonly version?: number
  readonly origin?: datasetStore.Origin
  readonly from_at?: string
  readonly until_at?: string
}

export async function measureCoverage(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  kind: DecisionKind,
  { params, options }: { readonly params: object; readonly options: CoverageOptions },
) {
  const { family } = kind
  const key = documentStore.getDefinitionKey(kind, params)
  const { dataset_id, tenant_id } = await documentStore.getDefinition(tx, family, key, options.origin)
  const inForce = (await resolver.findPointersInForce(tx, [key], {}, family)).get(key)
  const version = options.version ?? (inForce?.dataset_id === dataset_id ? inForce.version : undefined)
  const { text, dataset } = await documentStore.getVersionOrDraft(kernel, tx, kind, {
    ...params,
    version: String(version ?? fail('nothing_in_force')),
    origin: datasetStore.getOrigin(tenant_id),
  })
  const coverage = new Coverage({ ...text, family } as unknown as Definition)
  const of = {
    family,
    key,
    dataset_id,
    version: version as number,
    from_at: options.from_at,
    until_at: options.until_at,
  }
  let seen = 0
  let unusable = 0
  let complete = false
  for (let after: readonly [string, string] | null = null; seen < MAX_DECISIONS && !complete; ) {
    const rows: Awaited<ReturnType<typeof listDocuments>> = await listDocuments(tx, of, after, PORTION)
    for (const { state, document } of await decisionDocuments.openDocuments(kernel, tx, rows)) {
      if (state !== 'intact') unusable++
      else coverage.add((JSON.parse(document) as DecisionContent).explanation)
    }
    seen += rows.length
    complete = rows.length < PORTION
    const last = rows.at(-1)
    after = last ? [last.decided_at, last.evaluation_id] : null
  }
  const { parts, defaults, decisions } = coverage
  const idle = parts.filter(({ fired }) => fired === 0).length
  const origin = datasetStore.getOrigin(tenant_id)
  return {
    key: dataset.list_key,
    origin,
    version: version as number,
    decisions,
    complete,
    unusable,
    idle,
    parts,
    defaults,
  }
}
