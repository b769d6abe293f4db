/** Playbooks as a kind of versioned definition. */
import type { Tx } from '#kernel/database/tx.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { parseConditions } from './check-conditions.ts'
import { checkFacts, checkShape } from './check-playbook.ts'
import { describePlaybook } from './describe-playbook.ts'
import { PLAYBOOK_FAMILY } from './model.ts'
import { fromPlaybookEntries, toPlaybook, toPlaybookEntries } from './playbook-parts.ts'
import { listReferences, validatePlaybook } from './validate-playbook.ts'

export const playbookKind: documentStore.DefinitionKind = {
  family: PLAYBOOK_FAMILY,
  segment: 'playbooks',
  param: 'playbook_key',
  noun: 'Playbook',
  word: 'playbook',
  type_key: 'playbook-part',
  example: 'edd-person',
  reserved: ['step-kinds', 'uses'],
  has_profile: false,
  has_title: true,
  has_impact: false,
  operations: {
    list: 'listPlaybooks',
    create: 'createPlaybook',
    get: 'getPlaybook',
    update: 'updatePlaybook',
    archive: 'archivePlaybook',
    listDependencies: 'listPlaybookDependencies',
    listVersions: 'listPlaybookVersions',
    createDraft: 'createPlaybookDraft',
    getVersion: 'getPlaybookVersion',
    updateDraft: 'updatePlaybookDraft',
    deleteDraft: 'deletePlaybookDraft',
    publishDraft: 'publishPlaybookDraft',
    diffVersions: 'diffPlaybookVersions',
    listActivations: 'listPlaybookActivations',
    activateVersion: 'activatePlaybookVersion',
    submitVersion: 'submitPlaybookVersion',
    rollBack: 'rollBackPlaybook',
    pin: 'pinPlaybook',
    unpin: 'unpinPlaybook',
    deleteActivation: 'deletePlaybookActivation',
  },
  toEntries: toPlaybookEntries,
  fromEntries: fromPlaybookEntries,
  validate: (kernel, tx, { text }) => validatePlaybook(kernel, tx, text),
  findReferences: findPlaybookLists,
  async checkInForce(kernel, tx, key) {
    const dataset = await documentStore.findDefinition(tx, PLAYBOOK_FAMILY, key)
    if (!dataset) return []
    const { version, text } = await documentStore.getCurrentText(kernel, tx, playbookKind, dataset)
    return version === null ? [] : (await validatePlaybook(kernel, tx, text)).findings
  },
  describe: describePlaybook,
}

/** Of a text that has the shape of a playbook; other drafts read nothing yet. */
export const listPlaybookLists = (text: documentStore.DefinitionText): documentStore.ListReference[] => {
  if (checkShape(text).length > 0) return []
  const playbook = toPlaybook(text)
  return listReferences(playbook, checkFacts(playbook).length > 0 ? [] : parseConditions(playbook).references)
}

async function findPlaybookLists(tx: Tx, text: documentStore.DefinitionText) {
  const references = listPlaybookLists(text)
  const keys = [...new Set(references.map(({ list_key }) => list_key))]
  return { lists: await resolver.findPointersInForce(tx, keys, {}), references }
}
