/** What the difference of two versions means: payloads that would be quarantined, and readers that would lose a fact. */
import { compareFacts } from '#contract/compare-contracts.ts'
import { assertFound } from '#kernel/problem.ts'
import { Count, closed, listOf, oneOf, Slug, Type, text } from '#kernel/schema.ts'
import { datasetStore, type documentStore } from '#modules/definitions/index.ts'
import { findLostReaders } from './activation-gates.ts'
import { CONTRACT_FAMILY, loadContractVersion } from './bind-contract.ts'
import { listFactReaders } from './queries.ts'
import { recheckPayloads } from './recheck.ts'

const changes = ['removed', 'type_changed', 'values_changed', 'became_optional', 'moved', 'added'] as const
const Place = closed({
  pointer: Type.String({ maxLength: 600 }),
  keyword: text(100),
  payloads: Count,
})

const members = {
  payloads_lost: closed(
    {
      checked: Count,
      quarantined: Count,
      lost: Type.Integer({ minimum: 0, description: 'Of those that were admitted when they arrived.' }),
      places: listOf(Place, 20),
      samples: listOf(Type.String(), 5, { description: 'Ids of payloads that would be quarantined.' }),
    },
    { description: 'What the version `to` would make of the last 200 stored payloads.' },
  ),
  fact_changes: listOf(closed({ fact: text(60), change: oneOf(changes), breaks_readers: Type.Boolean() }), 500, {
    description: 'Facts that are different.',
  }),
  readers_lost: listOf(
    closed({
      family: text(40),
      key: Slug(),
      version: Count,
      input: text(60),
      fact: text(60),
      change: oneOf(changes),
    }),
    1000,
    { description: 'Definitions in force that would lose or misread a fact.' },
  ),
}

export const differenceHook: documentStore.DifferenceHook = {
  members,
  async compare(kernel, tx, { dataset, from, from_origin, to }) {
    const base = assertFound(await datasetStore.findDataset(tx, dataset.list_key, CONTRACT_FAMILY, from_origin))
    const before = await loadContractVersion(kernel, tx, base, from)
    const after = await loadContractVersion(kernel, tx, dataset, to)
    const readers = await listFactReaders(tx, dataset.list_key)
    return {
      payloads_lost: await recheckPayloads(kernel, tx, after),
      fact_changes: compareFacts(before.contract, after.contract),
      readers_lost: findLostReaders(before.contract, after.contract, readers),
    }
  },
}
