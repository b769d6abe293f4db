/** What matrices and rules have in common as kinds of definitions: an engine compiles, proves and decides them. */
import { fromPartEntries, type PartEntry, toPartEntries } from '#decision/definition-parts.ts'
import type { Definition, DefinitionFamily } from '#decision/model.ts'
import type { documentStore } from '#modules/definitions/index.ts'
import { insertFactReaders } from '#modules/source-contracts/index.ts'
import { checkDefinitionInForce } from './activation-gates.ts'
import { listFactReads } from './contract-facts.ts'
import { describeDefinition } from './plain-language.ts'
import { readDefinition } from './proofs.ts'
import { validateDefinition } from './validation.ts'

/** operationIds of the routes that only matrices and rules have. */
interface CaseOperations {
  readonly validateVersion: string
  readonly simulateVersion: string
  readonly testVersion: string
  readonly listCases: string
  readonly createCase: string
  readonly deleteCase: string
}

export interface DecisionKind extends documentStore.DefinitionKind {
  readonly family: DefinitionFamily
  readonly operations: documentStore.DefinitionOperations & CaseOperations
}

type Names = Pick<
  DecisionKind,
  'family' | 'segment' | 'param' | 'noun' | 'word' | 'type_key' | 'example' | 'reserved' | 'operations' | 'tools'
>

export function createDecisionKind(names: Names): DecisionKind {
  const { family } = names
  return {
    ...names,
    has_profile: true,
    has_impact: true,
    toEntries: (text) => toPartEntries({ ...text, family } as unknown as Definition),
    fromEntries(entries) {
      const { family: _, ...text } = fromPartEntries(family, entries as readonly PartEntry[])
      return text as unknown as documentStore.DefinitionText
    },
    validate: (kernel, tx, written) => validateDefinition(kernel, tx, written),
    findReferences: (tx, text) => readDefinition(tx, { family, text }),
    async checkInForce(kernel, tx, key) {
      const status = await checkDefinitionInForce(kernel, tx, { family, key }, { cases: true })
      return status?.findings ?? []
    },
    describe: describeDefinition,
    afterPublish: async (tx, version, text) => {
      const reads = listFactReads(text)
      if (reads.length > 0) await insertFactReaders(tx, version, reads)
    },
  }
}
