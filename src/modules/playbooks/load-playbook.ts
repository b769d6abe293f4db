/** The version in force of a playbook, or the one that an investigation has pinned. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { datasetStore, documentStore, resolver, versionStore } from '#modules/definitions/index.ts'
import { type LoadedPlaybook, PLAYBOOK_FAMILY, type PlaybookPin } from './model.ts'
import { fromPlaybookEntries, toPlaybook } from './playbook-parts.ts'

/**
 * Without `pinned`: the version in force for the tenant, 404 `not_found` where there is no such playbook and `nothing_in_force` where no
 * version of it is. With it: that version, whatever is in force now, 404 where it does not exist.
 */
export async function loadPlaybook(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  key: string,
  pinned?: PlaybookPin,
): Promise<LoadedPlaybook> {
  const pointer = pinned ? await findPinned(tx, key, pinned) : await findInForce(tx, key)
  const { text: _, ...loaded } = await loadPlaybookText(kernel, tx, pointer)
  return loaded
}

/** The same with the text as people write it. */
export async function loadPlaybookText(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  pointer: resolver.ContentPointer,
): Promise<LoadedPlaybook & { readonly text: documentStore.DefinitionText }> {
  const stored = (await resolver.loadList(kernel, tx, pointer)) ?? fail('content_corrupt')
  const text = fromPlaybookEntries([...stored.entries.values()].map(({ entry }) => entry))
  return {
    text,
    key: pointer.list_key,
    origin: datasetStore.getOrigin(pointer.dataset_tenant_id),
    version: pointer.version,
    content_hash: pointer.content_hash,
    content: toPlaybook(text),
  }
}

async function findInForce(tx: Tx, key: string): Promise<resolver.ContentPointer> {
  const [pointer] = await resolver.resolveVersions(tx, [key], {}, PLAYBOOK_FAMILY)
  return pointer ?? fail('nothing_in_force')
}

async function findPinned(tx: Tx, key: string, { origin, version }: PlaybookPin): Promise<resolver.ContentPointer> {
  const dataset = await documentStore.getDefinition(tx, PLAYBOOK_FAMILY, key, origin)
  const row = (await versionStore.findVersion(tx, dataset, version)) ?? fail('not_found')
  return documentStore.toContentPointer(dataset, row)
}
