/** Publishing a draft: proved first, then stored by the registry like any list, part by part. */

import { toPartEntries } from '#decision/definition-parts.ts'
import { CURRENT_ENGINE } from '#decision/engines.ts'
import type { Definition, DefinitionFamily, Finding } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import {
  type DatasetRow,
  findSharedType,
  MAX_CACHED_LIST_BYTES,
  publishStaged,
  stageRows,
  toTypeDefinition,
  type VersionRow,
} from '#modules/reference-data/index.ts'
import type { StagedRow } from '#registry/import/copy-rows.ts'
import { compileType } from '#registry/types/compile-type.ts'
import { type DefinitionText, getListVersions, validateDefinition } from '../definitions/definition.ts'
import { insertReferences } from '../definitions/queries.ts'
import { hasErrors } from '../proofs.ts'

/** What keeps a definition from being published, with every finding; a proof that cannot be made is no proof. */
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

/** Judged in the transaction that publishes it: by the draft that is locked, and by the lists in force in there. */
export async function publishDefinition(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  dataset: DatasetRow,
  text: DefinitionText,
  { label, note }: PublishOptions,
): Promise<VersionRow> {
  const { examined, cases, findings } = await validateDefinition(kernel, tx, { dataset, text })
  assertNoErrors(findings)
  if (!examined.of || hasErrors(findings)) return fail('internal')
  const proof = {
    engine: CURRENT_ENGINE,
    lists: getListVersions(examined),
    golden_cases: cases.length,
    warnings: findings.slice(0, 50),
  }
  const version = await publishParts(tx, dataset, { ...text, family: dataset.family as DefinitionFamily } as never, {
    origin: 'inline',
    provenance: { proof },
    label: label ?? null,
    note: note ?? null,
  })
  await insertReferences(tx, dataset, version.version, examined.of.compiled.list_keys)
  return version
}

/** A definition as a version of the registry, one entry for each of its parts. */
export async function publishParts(
  tx: Tx,
  dataset: DatasetRow,
  definition: Definition,
  how: Pick<VersionRow, 'origin' | 'provenance' | 'label' | 'note'>,
): Promise<VersionRow> {
  const type = (await findSharedType(tx, dataset.type_key)) ?? fail('internal')
  const compiled = compileType(toTypeDefinition(type))
  const rows = toPartEntries(definition).map((entry, index): StagedRow => {
    const prepared = compiled.prepare(entry)
    if ('key' in prepared) return { ...prepared, row: index + 1 }
    return fail('definition_invalid', `${prepared[0]?.pointer}: ${prepared[0]?.message}`)
  })
  const content = await stageRows(tx, rows)
  if (content.data_bytes > MAX_CACHED_LIST_BYTES) fail('definition_invalid', 'The definition is larger than 1 MiB.')
  const version = await publishStaged(tx, { dataset, type, content, guards: null, ...how })
  return version === 'unchanged' ? fail('internal') : version
}
