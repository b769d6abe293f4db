/** All findings on a matrix or rule: structure, lists, completeness, golden cases and reason codes. */
import type { DefinitionFamily, Finding } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { type datasetStore, documentStore } from '#modules/definitions/index.ts'
import type { DecideCapabilities } from './binding/decide-with.ts'
import { MAX_CASES } from './cases/golden-case.ts'
import { listCases } from './cases/queries.ts'
import { findFactFindings } from './contract-facts.ts'
import { checkDefinition, collectFindings } from './proofs.ts'
import { findReasonCodeWarnings } from './reason-code-warnings.ts'

export interface DecisionValidation extends documentStore.Validation {
  readonly findings: readonly Finding[]
  readonly lists: ReturnType<typeof documentStore.toListVersions>
}

export async function validateDefinition(
  kernel: DecideCapabilities,
  tx: Tx,
  { dataset, text }: { readonly dataset: datasetStore.DatasetRow; readonly text: documentStore.DefinitionText },
): Promise<DecisionValidation> {
  const checked = await checkDefinition(kernel, tx, { family: dataset.family as DefinitionFamily, text })
  const cases = await listCases(tx, dataset, null, MAX_CASES)
  const found = await collectFindings(kernel, tx, checked, cases)
  const warnings = checked.of ? await findReasonCodeWarnings(kernel, tx, text) : []
  const facts = checked.of ? await findFactFindings(kernel, tx, text) : []
  const lists = checked.of ? documentStore.toListVersions(checked.of.lists) : []
  return {
    findings: [...found, ...facts, ...warnings],
    lists,
    list_keys: checked.of ? [...checked.of.lists.keys()] : [],
    proof: { ...(checked.of && { engine: checked.of.compiled.engine }), lists, golden_cases: cases.length },
  }
}
