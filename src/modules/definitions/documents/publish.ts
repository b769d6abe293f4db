/** Publishes a draft: validates it, then stores one entry for each part of the document. */
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import type { StagedRow } from '#registry/import/copy-rows.ts'
import type { DatasetRow } from '../datasets/queries.ts'
import { MAX_CACHED_LIST_BYTES } from '../resolve/resolver.ts'
import { stageRows } from '../staging/stage-rows.ts'
import { getBaseType, type OperatorType } from '../types/dataset-type.ts'
import { findSharedType, type TypeRow } from '../types/queries.ts'
import { publishStaged } from '../versions/publish.ts'
import type { VersionRow } from '../versions/queries.ts'
import type { DefinitionKind, DocumentEntry, Finding, ValidationCapabilities } from './kind.ts'
import { type DraftRow, insertReferences } from './queries.ts'

/** Refuses to publish with all findings. An incomplete proof has its own problem. */
export function assertNoErrors(findings: readonly Finding[]): void {
  const errors = findings.filter(({ severity }) => severity === 'error')
  if (errors.length === 0) return
  const unproved = errors.every(({ code }) => code === 'not_analysable')
  fail(unproved ? 'not_analysable' : 'definition_invalid', {
    detail: `${errors.length} fault${errors.length === 1 ? '' : 's'}: ${errors[0]?.message}`.slice(0, 1000),
    errors: errors.slice(0, 50).map(({ pointer, message, code }) => ({
      in: 'body' as const,
      pointer: `#${pointer}`,
      detail: message.slice(0, 500),
      keyword: code,
    })),
    members: { findings: findings.slice(0, 200) },
  })
}

export interface PublishOptions {
  readonly label?: string | null
  readonly note?: string | null
}

/** Validates in the publishing transaction, against the locked draft and the lists in force in that snapshot. */
export async function publishDraft(
  kernel: ValidationCapabilities,
  tx: Tx,
  kind: DefinitionKind,
  { dataset, draft, label, note }: PublishOptions & { readonly dataset: DatasetRow; readonly draft: DraftRow },
): Promise<VersionRow> {
  const text = draft.definition
  const { findings, list_keys, proof } = await kind.validate(kernel, tx, { dataset, text })
  assertNoErrors(findings)
  const type = (await findSharedType(tx, dataset.type_key)) ?? fail('internal')
  const rows = prepareRows(getBaseType(kernel, type), kind.toEntries(text))
  const version = await publishRows(tx, { dataset, type }, rows, {
    origin: 'inline',
    provenance: { proof: { ...proof, warnings: findings.slice(0, 50) } },
    label: label ?? null,
    note: note ?? null,
  })
  await insertReferences(tx, dataset, version.version, list_keys)
  await kind.afterPublish?.(tx, { dataset_id: dataset.dataset_id, version: version.version }, text)
  return version
}

function prepareRows({ compiled }: OperatorType, entries: readonly DocumentEntry[]): StagedRow[] {
  return entries.map((entry, index): StagedRow => {
    const prepared = compiled.prepare(entry)
    if ('key' in prepared) return { ...prepared, row: index + 1 }
    return fail('definition_invalid', `${prepared[0]?.pointer}: ${prepared[0]?.message}`)
  })
}

async function publishRows(
  tx: Tx,
  { dataset, type }: { readonly dataset: DatasetRow; readonly type: TypeRow },
  rows: readonly StagedRow[],
  metadata: Pick<VersionRow, 'origin' | 'provenance' | 'label' | 'note'>,
): Promise<VersionRow> {
  const content = await stageRows(tx, rows)
  if (content.data_bytes > MAX_CACHED_LIST_BYTES) fail('definition_invalid', 'The definition is larger than 1 MiB.')
  const version = await publishStaged(tx, { dataset, type, content, guards: null, ...metadata })
  return version === 'unchanged' ? fail('internal') : version
}
