/** Source contracts as a kind of versioned definition. */
import { fromContractEntries, toContractEntries } from '#contract/contract-parts.ts'
import { describeContract } from '#contract/describe-contract.ts'
import type { Contract } from '#contract/model.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { activationHook } from './activation-gates.ts'
import { checkContractInForce, findContractReferences, validateContract } from './validate-contract.ts'
import { differenceHook } from './version-difference.ts'

export const contractKind: documentStore.DefinitionKind = {
  family: 'contract',
  segment: 'source-contracts',
  param: 'contract_key',
  noun: 'SourceContract',
  word: 'contract',
  type_key: 'source-contract-part',
  example: 'company-registry',
  reserved: ['infer', 'quarantine', 'activity', 'convert-odcs'],
  has_profile: false,
  has_impact: false,
  operations: {
    list: 'listSourceContracts',
    create: 'createSourceContract',
    get: 'getSourceContract',
    update: 'updateSourceContract',
    archive: 'archiveSourceContract',
    listDependencies: 'listSourceContractDependencies',
    listVersions: 'listSourceContractVersions',
    createDraft: 'createSourceContractDraft',
    getVersion: 'getSourceContractVersion',
    updateDraft: 'updateSourceContractDraft',
    deleteDraft: 'deleteSourceContractDraft',
    publishDraft: 'publishSourceContractDraft',
    diffVersions: 'diffSourceContractVersions',
    listActivations: 'listSourceContractActivations',
    activateVersion: 'activateSourceContractVersion',
    submitVersion: 'submitSourceContractVersion',
    rollBack: 'rollBackSourceContract',
    pin: 'pinSourceContract',
    unpin: 'unpinSourceContract',
    deleteActivation: 'deleteSourceContractActivation',
  },
  toEntries: (text) => toContractEntries(text as unknown as Contract),
  fromEntries: (entries) => fromContractEntries(entries) as unknown as documentStore.DefinitionText,
  validate: (kernel, tx, { text }) => validateContract(kernel, tx, text),
  findReferences: findContractReferences,
  checkInForce: checkContractInForce,
  describe: describeContract,
  activation: activationHook,
  difference: differenceHook,
}
